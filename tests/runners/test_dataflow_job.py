"""The Dataflow job, built in a namespace with loopback only: what the service would be asked for."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.config.load import load_setup
from pipeline.options import beam_arguments
from pipeline.plan import Plan, make_plan
from pipeline.runners.dataflow import _batch_pipeline, build_job, dry_flags, has_extra
from pipeline.stream import StreamOptions
from tests.program import ROOT, newsbeam, story
from tests.runners.processes import is_loopback_only

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (has_extra() and is_loopback_only()), reason="needs the extra gcp, and deploy/loopback_only.sh"
    ),
    pytest.mark.filterwarnings("ignore"),
]

FLAGS = ["--project=my-project", "--temp_location=gs://my-bucket-of-news/tmp"]


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    words = {"dataset": str(tmp_path / "out"), "contact": "desk@vale-post.example"}
    words["feeds"] = [str(ROOT / "configs/feeds.yaml")]  # type: ignore[assignment]
    return make_plan(load_setup(str(ROOT / "configs/newsbeam.yaml"), words, {}))


def test_a_batch_job_has_limits_and_a_region(plan: Plan) -> None:
    facts = build_job(plan, beam_arguments("dataflow", FLAGS))
    assert (facts.is_streaming, facts.region, facts.max_workers) == (False, "us-central1", 2)
    assert facts.machine_type == "e2-standard-2"
    assert facts.images == ("gcr.io/cloud-dataflow/v1beta3/beam_python3.11_sdk:2.77.0",)
    assert "workflow.tar.gz" in facts.staged
    assert facts.steps > 50


def test_a_stream_is_a_streaming_job(plan: Plan) -> None:
    flags = beam_arguments("dataflow", FLAGS)
    facts = build_job(plan, flags, StreamOptions(tuple(flags), "desk"))
    assert facts.is_streaming


def test_with_an_image_nothing_is_installed_on_workers(plan: Plan) -> None:
    image = "us-docker.pkg.dev/my-project/newsbeam/newsbeam:0.1.0"
    flags = beam_arguments("dataflow", [*FLAGS, f"--sdk_container_image={image}", "--sdk_location=container"])
    facts = build_job(plan, flags)
    assert facts.images == (image,)
    assert "workflow.tar.gz" not in facts.staged


def test_the_request_that_would_be_sent_is_bounded(plan: Plan, tmp_path: Path) -> None:
    from apache_beam.runners.dataflow.internal.apiclient import DataflowApplicationClient

    job = _batch_pipeline(plan, dry_flags(beam_arguments("dataflow", FLAGS))).run().job
    (tmp_path / "staging").mkdir()
    job.google_cloud_options.staging_location = str(tmp_path / "staging")
    job.google_cloud_options.template_location = str(tmp_path / "template.json")
    DataflowApplicationClient(job.options, job.root_staging_location).create_job(job)

    request = json.loads((tmp_path / "template.json").read_text())
    assert (request["type"], request["labels"]) == ("JOB_TYPE_BATCH", {"app": "newsbeam"})
    (workers,) = [pool for pool in request["environment"]["workerPools"] if pool["kind"] == "harness"]
    assert (workers["machineType"], workers["autoscalingSettings"]["maxNumWorkers"]) == ("e2-standard-2", 2)
    assert "workflow.tar.gz" in {package["name"] for package in workers["packages"]}
    # The configuration travels in the pickled graph; what anyone may read in the job's page holds no contact.
    assert "desk@vale-post.example" not in json.dumps(request["environment"]["sdkPipelineOptions"])


def test_the_plan_shows_the_job(tmp_path: Path) -> None:
    shown = newsbeam("run", "--plan", "-d", tmp_path, "--runner", "dataflow", *FLAGS).stdout
    assert "batch" in shown
    assert "at most 2, e2-standard-2" in shown
    assert not list(tmp_path.iterdir())


def test_what_is_missing_is_told_before_anybody_is_asked(tmp_path: Path) -> None:
    done = newsbeam("run", "--plan", "-d", tmp_path, "--runner", "dataflow", check=False)
    assert done.returncode == 2
    assert "--project=... --temp_location=..." in done.stderr


def test_the_metadata_is_what_the_service_reads() -> None:
    from google.cloud.dataflow_v1beta3.types import TemplateMetadata

    text = (ROOT / "deploy/dataflow/metadata.json").read_text()
    parsed = TemplateMetadata.from_json(text)
    assert len(parsed.parameters) == len(json.loads(text)["parameters"])


def test_the_staged_archive_runs_where_nothing_else_of_the_project_is(tmp_path: Path) -> None:
    words = [
        "setup.py",
        "-q",
        "egg_info",
        "-e",
        str(tmp_path),
        "sdist",
        "--formats=gztar",
        "-d",
        str(tmp_path / "dist"),
    ]
    subprocess.run([sys.executable, *words], cwd=ROOT, check=True)
    (archive,) = (tmp_path / "dist").glob("newsbeam-*.tar.gz")
    shutil.unpack_archive(archive, tmp_path / "unpacked")
    (source,) = (tmp_path / "unpacked").iterdir()
    build = ["setup.py", "-q", "build", "-b", str(tmp_path / "work"), "--build-lib", str(tmp_path / "lib")]
    subprocess.run([sys.executable, *build], cwd=source, check=True)
    assert {path.name for path in (tmp_path / "lib").iterdir()} == {"pipeline", "transforms"}
    title, paragraphs = story(5)
    (tmp_path / "a.txt").write_text("\n\n".join([title, *paragraphs]))
    program = "import sys; from pipeline.cli import main; raise SystemExit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", program, "run", "--seeds", "a.txt", "-d", "out", "--json"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "lib"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["items"]["new"] == 1
