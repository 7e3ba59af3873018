"""On what machine, and with which versions, a run was made."""

import importlib.metadata
import os
import platform
from pathlib import Path

import stakes

COMPARED = (
    "numpy",
    "scipy",
    "polars",
    "narwhals",
    "scikit-learn",
    "pandas",
    "pyarrow",
    "duckdb",
    "pyspark",
    "pycm",
    "polars-ds",
    "confidenceinterval",
    "torch",
    "torchmetrics",
    "matplotlib",
)


def described() -> dict[str, str]:
    """What a reader needs to judge the figures."""
    busy = os.getloadavg()[0]
    return {
        "processor": f"{_first('/proc/cpuinfo', 'model name') or platform.machine()}, {os.cpu_count()} cores",
        "memory": f"{int((_first('/proc/meminfo', 'MemTotal') or '0').split()[0]) / 1024**2:.0f} GB",
        "system": f"{_system()}, {platform.system()} {platform.release()}",
        "load at the start": f"{busy:.1f} (processes that wanted to run, the last minute)",
        "versions": ", ".join(
            [
                f"Python {platform.python_version()}",
                f"stakes {stakes.__version__}",
                *(f"{name} {version(name)}" for name in COMPARED),
            ]
        ),
    }


def version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _first(file: str, key: str) -> str:
    lines = Path(file).read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(key)), "")


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return "unknown"
