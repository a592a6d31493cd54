"""Stands in for Conan's package of OpenSSL: the libraries of this machine."""
from conan import ConanFile


class OpensslOfThisMachine(ConanFile):
    name = "openssl"
    version = "3.0.0"

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "OpenSSL")
        for name, target in (("ssl", "OpenSSL::SSL"), ("crypto", "OpenSSL::Crypto")):
            component = self.cpp_info.components[name]
            component.set_property("cmake_target_name", target)
            component.system_libs = [name]
            component.includedirs = component.libdirs = component.bindirs = []
        self.cpp_info.components["ssl"].requires = ["crypto"]
