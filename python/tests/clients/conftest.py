# SPDX-License-Identifier: Apache-2.0
"""Clients of the tests: pools of processes and of threads, and Dask if dask.distributed is installed."""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

KILLS = os.environ.get("COLLET_TEST_KILLS")


def pytest_collection_modifyitems(items):
    """Tests that kill workers run only in the long test python_clients_killed."""
    if not KILLS:
        for item in items:
            if "kill" in item.name:
                item.add_marker(pytest.mark.skip(reason="long: COLLET_TEST_KILLS=1 runs it"))


@pytest.fixture(scope="module")
def dask():
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    workers = 4 if KILLS else 2  # starting a worker takes a second
    with distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0",
                                  memory_limit=0) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.fixture(scope="module")
def threads():
    with ThreadPoolExecutor(3) as pool:
        yield pool


@pytest.fixture(params=["dask", "processes", "threads"])
def client(request):
    return request.getfixturevalue(request.param)
