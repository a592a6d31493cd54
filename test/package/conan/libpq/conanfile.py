"""Stands in for Conan's package of libpq: the library of this machine."""
from conan import ConanFile


class LibpqOfThisMachine(ConanFile):
    name = "libpq"
    version = "15.0"

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "PostgreSQL")
        self.cpp_info.set_property("cmake_target_name", "PostgreSQL::PostgreSQL")
        self.cpp_info.system_libs = ["pq"]
        self.cpp_info.includedirs = self.cpp_info.libdirs = self.cpp_info.bindirs = []
