// The function that libFuzzer calls. It is compiled once for each target.
#include "fuzz/targets.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    leasehold::fuzz::LEASEHOLD_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
    return 0;
}
