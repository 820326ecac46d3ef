"""Packaging of newsbeam. A real setup.py: Beam stages the code for its workers with it."""

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent
VERSION = re.search(r'__version__ = "([^"]+)"', (HERE / "pipeline/__init__.py").read_text(encoding="utf-8")).group(1)

setup(
    name="newsbeam",
    version=VERSION,
    description="Streaming ingestion for news monitoring: feeds and seeds in, tagged articles out as Parquet",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.10",
    # Only these two; tests, seeds and configs must not become top-level packages of an installation.
    packages=[*find_packages(include=["pipeline", "pipeline.*", "transforms", "transforms.*"]), "pipeline.starter"],
    package_dir={"pipeline.starter": "configs"},
    package_data={"pipeline.starter": ["*.yaml", "runners/*.yaml"], "pipeline": ["py.typed"]},
    entry_points={"console_scripts": ["newsbeam = pipeline.__main__:run"]},
    install_requires=[
        "apache-beam>=2.77,<2.78",
        "feedparser>=6.0.14,<7",
        "urllib3>=2.8,<3",
        "certifi>=2025.1.31",
        "brotli>=1.2,<2",
        "backports.zstd>=1.8,<2; python_version < '3.14'",
        "Protego>=0.7,<0.8",
        "trafilatura>=2.3.1,<2.4",
        "lxml>=6,<7",
        # By its own name: an old pip drops the extra lxml[html_clean] that others ask for.
        "lxml_html_clean>=0.4,<1",
        "htmldate>=1.11,<2",
        "courlan>=1.4,<2",
        "tld>=0.13,<1",
        "tzdata>=2025.1",
        "idna>=3.7,<4",
        "resiliparse>=2.0,<3",
        "ahocorasick_rs>=1.0.3,<2",
        "spacy>=3.8,<4",
        "py3langid>=0.4,<0.5",
        "charset-normalizer>=3.4,<4",
        "pyarrow>=25,<26",
        "pydantic>=2.11,<3",
        "PyYAML>=6.0.2,<7",
        "rich>=15,<16",
        "ftfy>=6.3,<7",
    ],
    extras_require={
        "query": ["duckdb>=2.0,<3"],
        # fsspec is how DuckDB reads from a bucket.
        "gcp": ["apache-beam[gcp]>=2.77,<2.78", "google-cloud-storage>=3.1,<4", "fsspec>=2025.3"],
        "spark-test": ["pyspark>=4.0,<5"],
        "gcs-test": ["gcp-storage-emulator>=2026.7,<2027"],
        "dev": [
            "build>=1.3,<2",
            "hypothesis>=6.150,<7",
            "import-linter>=2.5,<3",
            "mypy>=2.0,<3",
            "pandas>=2.2,<4",
            "polars>=1.30,<3",
            "pytest>=9,<10",
            "pytest-timeout>=2.4,<3",
            "pytest-xdist>=3.8,<4",
            # A peer in bench/fetch.py.
            "requests>=2.34,<3",
            "ruff>=0.14,<0.18",
            "trustme>=1.2,<2",
            "types-PyYAML",
            "types-requests",
        ],
        # Other extractors, for their columns in make eval-peers.
        "peers": ["newspaper4k>=0.9.6,<1", "news-please>=1.6.16,<2", "readability-lxml>=0.8.4,<1"],
    },
    classifiers=[
        "License :: OSI Approved :: Apache Software License",
        "Programming Language :: Python :: 3",
        "Topic :: Text Processing :: Linguistic",
    ],
)
