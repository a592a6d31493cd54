#ifndef LEASEHOLD_TEST_SUPPORT_PRECOMPILED_HPP
#define LEASEHOLD_TEST_SUPPORT_PRECOMPILED_HPP

// What most tests include and what takes long to read, compiled once where
// LEASEHOLD_PRECOMPILED_HEADERS is on. Nothing includes it by name, and each file still includes
// what it uses: the release build compiles without it.

#include <leasehold.hpp>

#include <boost/asio.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#endif
