#ifndef LEASEHOLD_TEST_SUPPORT_PRECOMPILED_HPP
#define LEASEHOLD_TEST_SUPPORT_PRECOMPILED_HPP

// Headers that most tests include and that compile slowly, compiled once if
// LEASEHOLD_PRECOMPILED_HEADERS is on. No file includes it by name, and each file still includes
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
