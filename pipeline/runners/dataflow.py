"""The Dataflow job as it would be sent, built offline for ``--plan``."""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import Any, NamedTuple

from pipeline.errors import ConfigError
from pipeline.plan import Plan
from pipeline.stream import StreamOptions

REQUIRED = ("project", "region", "temp_location")


class JobFacts(NamedTuple):
    """What the service would be asked for.

    Attributes:
        name: Of the job.
        is_streaming: Its type.
        steps: Number of transforms that do something.
        images: Container images of the workers.
        staged: Names of the files that would be staged.
        max_workers: Most workers; 0 if the service decides.
        machine_type: Of a worker; empty if the service decides.
        region: Where it would run.
    """

    name: str
    is_streaming: bool
    steps: int
    images: tuple[str, ...]
    staged: tuple[str, ...]
    max_workers: int
    machine_type: str
    region: str


def has_extra() -> bool:
    """Tells whether the extra ``gcp`` is installed."""
    try:
        return find_spec("google.cloud.dataflow_v1beta3") is not None
    except ModuleNotFoundError:  # not even google.cloud
        return False


def dry_flags(flags: list[str]) -> list[str]:
    """Returns flags with which Beam builds the job and sends nothing.

    Raises:
        ConfigError: If one is missing that Beam would go to the network for.
    """
    names = {flag.removeprefix("--").partition("=")[0] for flag in flags}
    missing = [f"--{name}=..." for name in REQUIRED if name not in names]
    if missing:
        raise ConfigError(f"--runner dataflow needs {' '.join(missing)} as well, on the command line or in a preset")
    bucket = [
        flag for flag in flags if flag.startswith("--temp_location=") and not flag.startswith("--temp_location=gs://")
    ]
    if bucket:
        raise ConfigError(f"{bucket[0]}: must be gs://BUCKET/FOLDER")
    return [*flags, "--dry_run=true", "--no_auth"]


def build_job(plan: Plan, flags: list[str], stream: StreamOptions | None = None) -> JobFacts:
    """Builds the job and returns its facts; nothing is sent and nobody asked.

    Args:
        plan: The inputs.
        flags: Checked flags for Beam, runner first.
        stream: For a stream; its flags are replaced by ``flags``.

    Raises:
        ConfigError: If a flag is missing, or the extra ``gcp`` is not installed.
    """
    if not has_extra():
        raise ConfigError("--runner dataflow needs the extra gcp: pip install 'newsbeam[gcp]'")
    flags = dry_flags(flags)
    if stream is not None:
        from pipeline.stream import make_pipeline

        pipeline = make_pipeline(plan, stream._replace(beam_flags=tuple(flags)))
    else:
        pipeline = _batch_pipeline(plan, flags)
    return facts_of(pipeline.run().job)


def _batch_pipeline(plan: Plan, flags: list[str]) -> Any:
    # Beam takes a second or two.
    import apache_beam as beam
    from apache_beam.options.pipeline_options import PipelineOptions

    from pipeline.graph import batch_sources, build
    from pipeline.launch import RunOptions, make_job, new_run, run_facts
    from transforms.dedupe.state import NEWEST, StateLocation

    seeds = [path for batch in plan.seed_batches for path in batch]
    facts = run_facts(plan, plan.feeds, tuple(seeds), plan.url_paths)
    job = make_job(plan, RunOptions(tuple(flags)), new_run(None), StateLocation(plan.config.dataset, NEWEST), facts)
    pipeline = beam.Pipeline(options=PipelineOptions(flags, save_main_session=False))
    build(batch_sources(pipeline, list(plan.feeds), seeds, list(plan.url_paths)), job)
    return pipeline


def facts_of(job: Any) -> JobFacts:
    """Reads the facts off a job that Beam built with ``dry_flags``.

    Args:
        job: ``apiclient.Job``, the ``job`` of a pipeline's result.
    """
    from apache_beam.portability.api import beam_runner_api_pb2 as beam_api

    components = job.proto_pipeline.components
    images, staged = set(), set()
    for environment in components.environments.values():
        if environment.urn == "beam:env:docker:v1":
            images.add(beam_api.DockerPayload.FromString(environment.payload).container_image)
        for dependency in environment.dependencies:
            staged.add(beam_api.ArtifactStagingToRolePayload.FromString(dependency.role_payload).staged_name)
    worker = job.options.get_all_options()
    return JobFacts(
        name=job.proto.name,
        is_streaming=bool(worker.get("streaming")),
        steps=sum(1 for transform in components.transforms.values() if transform.spec.urn),
        images=tuple(sorted(images)),
        staged=tuple(sorted(staged)),
        max_workers=int(worker.get("max_num_workers") or 0),
        machine_type=str(worker.get("machine_type") or ""),
        region=str(worker.get("region") or ""),
    )


def lines_of(facts: JobFacts) -> list[str]:
    """Returns the facts as lines for people."""
    most = facts.max_workers or "(the service decides)"
    return [
        f"job         {facts.name}, {'streaming' if facts.is_streaming else 'batch'}, {facts.steps} steps,"
        f" {facts.region}",
        f"workers     at most {most}, {facts.machine_type or 'default machines'}",
        f"image       {', '.join(facts.images)}",
        f"staged      {', '.join(facts.staged) or 'nothing: the code is in the image'}",
    ]


def as_json(facts: JobFacts) -> str:
    """Returns the facts as a JSON object."""
    return json.dumps(facts._asdict())
