import os

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

required_conan_version = ">=2.0"


class LeaseholdConan(ConanFile):
    name = "leasehold"
    description = "Distributed locks for Boost.Asio, in Redis, PostgreSQL, ZooKeeper or etcd"
    license = "BSL-1.0"
    topics = ("asio", "coroutines", "distributed-lock", "redis", "postgresql", "zookeeper", "etcd",
              "fencing-token")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "postgres": [True, False],
               "tool": [True, False]}
    default_options = {"shared": False, "fPIC": True, "postgres": False, "tool": False}
    implements = ["auto_shared_fpic"]

    @property
    def _sources(self):
        return os.path.join(self.recipe_folder, os.pardir, os.pardir)

    def set_version(self):
        lists = load(self, os.path.join(self._sources, "CMakeLists.txt"))
        self.version = lists.split("project(leasehold VERSION ")[1].split()[0]

    def export_sources(self):
        for pattern in ("CHANGELOG.md", "CMakeLists.txt", "LICENSE", "cmake/*", "include/*",
                        "packaging/*", "src/*", "tool/*"):
            copy(self, pattern, self._sources, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def validate(self):
        check_min_cppstd(self, 20)

    def requirements(self):
        # The library's headers include it.
        self.requires("boost/[>=1.91 <2]", transitive_headers=True, options={"header_only": True})
        self.requires("openssl/[>=3 <4]", transitive_libs=True)
        if self.options.postgres:
            self.requires("libpq/[>=14 <18]", transitive_libs=True)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False
        toolchain.cache_variables["LEASEHOLD_TESTS"] = False
        # Conan has no Lua 5.1.
        toolchain.cache_variables["LEASEHOLD_TESTING"] = "OFF"
        toolchain.cache_variables["LEASEHOLD_POSTGRES"] = "ON" if self.options.postgres else "OFF"
        # Needs Boost.Charconv, which is not header-only.
        toolchain.cache_variables["LEASEHOLD_MYSQL"] = "OFF"
        toolchain.cache_variables["LEASEHOLD_EXAMPLES"] = False
        toolchain.cache_variables["LEASEHOLD_WERROR"] = False
        toolchain.cache_variables["LEASEHOLD_TOOL"] = bool(self.options.tool)
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        # Conan makes these itself.
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "leasehold")
        # As in CMake, leasehold::leasehold is core and redis.
        self.cpp_info.set_property("cmake_target_name", "leasehold::all")
        self.cpp_info.set_property("pkg_config_name", "leasehold-all")
        both = self.cpp_info.components["leasehold"]
        both.set_property("cmake_target_name", "leasehold::leasehold")
        both.set_property("pkg_config_name", "leasehold")
        both.requires = ["core", "redis"]
        system = ["pthread"] if self.settings.os in ("Linux", "FreeBSD") else []
        shared = ["LEASEHOLD_SHARED"] if self.options.shared else []
        needed = {
            "core": ["boost::headers"],
            "redis": ["core", "openssl::openssl"],
            "zookeeper": ["core", "openssl::openssl"],
            "etcd": ["core", "openssl::openssl"],
        }
        if self.options.postgres:
            needed["postgres"] = ["core", "libpq::libpq"]
        for name, requires in needed.items():
            component = self.cpp_info.components[name]
            component.set_property("cmake_target_name", f"leasehold::{name}")
            component.set_property("pkg_config_name", f"leasehold-{name}")
            component.libs = [f"leasehold_{name}"]
            component.requires = requires
            component.system_libs = system
            component.defines = list(shared)
            if name != "core":
                component.defines.append(f"LEASEHOLD_HAS_{name.upper()}")
