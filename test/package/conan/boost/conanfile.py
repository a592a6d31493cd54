"""Stands in for Conan's package of Boost: the headers of this machine."""
import os

from conan import ConanFile


class BoostOfThisMachine(ConanFile):
    name = "boost"
    version = "1.91.0"
    options = {"header_only": [True, False]}
    default_options = {"header_only": True}

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "Boost")
        headers = self.cpp_info.components["headers"]
        headers.set_property("cmake_target_name", "Boost::headers")
        root = os.environ.get("LEASEHOLD_BOOST_ROOT")
        headers.includedirs = [os.path.join(root, "include")] if root else []
        headers.libdirs = headers.bindirs = []
