#include "support/directory.hpp"

#include <stdlib.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace leasehold::test {

temporary_directory::temporary_directory()
{
    std::string pattern = (std::filesystem::temp_directory_path() / "leasehold-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
        throw std::runtime_error("no temporary directory can be made at " + pattern);
    path_ = pattern;
}

temporary_directory::~temporary_directory()
{
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string text_of(const std::filesystem::path& file)
{
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace leasehold::test
