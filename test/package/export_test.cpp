// The values of the export macros: their header is read once for each kind of build. It comes
// first, because the other headers must not assume Windows.
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define EXPORTS                                                                                    \
    TEXT(LEASEHOLD_EXPORT), TEXT(LEASEHOLD_REDIS_EXPORT), TEXT(LEASEHOLD_POSTGRES_EXPORT),         \
        TEXT(LEASEHOLD_MYSQL_EXPORT), TEXT(LEASEHOLD_ZOOKEEPER_EXPORT),                            \
        TEXT(LEASEHOLD_ETCD_EXPORT), TEXT(LEASEHOLD_TESTING_EXPORT)

// clang-format off
#include "forget_exports.hpp"
#include <leasehold/detail/export.hpp>
static constexpr const char* on_this_system[] = {EXPORTS};

#define _WIN32 1
#include "forget_exports.hpp"
#include <leasehold/detail/export.hpp>
static constexpr const char* static_on_windows[] = {EXPORTS};

#define LEASEHOLD_SHARED
#include "forget_exports.hpp"
#include <leasehold/detail/export.hpp>
static constexpr const char* users_of_dlls[] = {EXPORTS};

#define LEASEHOLD_BUILDS_REDIS
#include "forget_exports.hpp"
#include <leasehold/detail/export.hpp>
static constexpr const char* redis_dll[] = {EXPORTS};

#undef LEASEHOLD_BUILDS_REDIS
#undef LEASEHOLD_SHARED
#undef _WIN32
#include "forget_exports.hpp"
#include <leasehold/detail/export.hpp>
// clang-format on

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using texts = std::vector<std::string>;

static texts all(const char* const (&each)[7])
{
    return {each, each + 7};
}

BOOST_AUTO_TEST_CASE(exported_symbols_are_visible_outside_windows)
{
    const std::string visible = "__attribute__((visibility(\"default\")))";
    BOOST_TEST(all(on_this_system) == texts(7, visible), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(static_libraries_on_windows_export_nothing)
{
    BOOST_TEST(all(static_on_windows) == texts(7), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(program_imports_from_every_dll)
{
    const std::string import = "__declspec(dllimport)";
    BOOST_TEST(all(users_of_dlls) == texts(7, import), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(dll_exports_its_own_symbols_and_imports_the_others)
{
    const std::string import = "__declspec(dllimport)";
    BOOST_TEST(all(redis_dll) ==
                   (texts{import, "__declspec(dllexport)", import, import, import, import, import}),
               boost::test_tools::per_element());
}
