# SPDX-License-Identifier: Apache-2.0
# Copyright The Collet authors
from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Collet(CMakePackage):
    """A compute runtime in C whose backends are plugins, with arrays, molecular trajectories, resonant soft X-ray
    scattering and ternary networks."""

    homepage = "https://collet.example.org/"
    git = "https://git.example.org/collet.git"
    url = "https://git.example.org/collet/archive/refs/tags/v0.1.0.tar.gz"

    maintainers("collet")
    license("Apache-2.0")

    # A placeholder until the release: `spack checksum collet` computes the sha256 of its archive.
    version("0.1.0", sha256="0000000000000000000000000000000000000000000000000000000000000000")

    variant("openmp", default=True, description="The backend cpu_openmp: all cores and vector instructions")
    variant("opencl", default=True, description="The backend opencl, which opens a driver at run time")
    variant("cuda", default=True, description="The backend cuda, which opens NVIDIA's driver and libraries at run time")
    variant("hdf5", default=True, description="The engines read and write .h5")
    variant("python", default=False, description="The Python package")
    variant("mpi", default=False, description="A launcher for the programs' ranks, which find MPI at run time")

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cairo")
    depends_on("cjson")
    depends_on("libconfig")
    depends_on("libzip")
    depends_on("zlib-api")
    depends_on("bzip2")
    depends_on("xz")
    depends_on("openblas", when="+openmp", type=("build", "link", "run"))
    depends_on("hdf5@1.10:", when="+hdf5")
    depends_on("mpi", when="+mpi", type="run")
    extends("python", when="+python")
    with when("+python"):
        depends_on("python@3.11:", type=("build", "run"))
        depends_on("py-numpy@1.23:", type=("build", "run"))

    generator("ninja")

    def cmake_args(self):
        backends = ["cpu_scalar", "worker"]
        backends += [name for name, variant in (("cpu_openmp", "openmp"), ("opencl", "opencl"), ("cuda", "cuda"))
                     if f"+{variant}" in self.spec]
        args = [
            self.define("COLLET_TESTS", False),
            self.define("COLLET_BACKENDS", backends),
            self.define_from_variant("COLLET_OPENMP", "openmp"),
            self.define_from_variant("COLLET_HDF5", "hdf5"),
            self.define_from_variant("COLLET_PYTHON", "python"),
        ]
        if "+python" in self.spec:
            args.append(self.define("COLLET_PYTHON_DIRECTORY", python_platlib))
        return args

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        Executable(self.prefix.bin.join("backend-check"))("--sample", "--signatures", "1", "cpu_scalar")
