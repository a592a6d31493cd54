// Runs the targets over files, without a fuzzer: replay TARGET FILE-OR-FOLDER... [TARGET ...]
#include "fuzz/targets.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace fs = std::filesystem;
using namespace leasehold;

int main(int count, char** words)
{
    const std::map<std::string, void (*)(std::string_view)> targets = {
        {"url", fuzz::url},     {"owner", fuzz::owner},       {"name", fuzz::name},
        {"reply", fuzz::reply}, {"native", fuzz::native},     {"push", fuzz::push},
        {"guard", fuzz::guard}, {"topology", fuzz::topology}, {"zookeeper", fuzz::zookeeper},
        {"etcd", fuzz::etcd}};
    void (*target)(std::string_view) = nullptr;
    int inputs = 0;
    for (int i = 1; i < count; ++i) {
        if (const auto named = targets.find(words[i]); named != targets.end()) {
            target = named->second;
            continue;
        }
        std::vector<fs::path> files{words[i]};
        if (fs::is_directory(words[i]))
            files.assign(fs::directory_iterator(words[i]), fs::directory_iterator());
        for (const fs::path& each : files) {
            std::ifstream file(each, std::ios::binary);
            const std::string bytes(std::istreambuf_iterator<char>(file), {});
            if (!file || target == nullptr) {
                std::fprintf(stderr, "replay: cannot read %s, or no target stands before it\n",
                             each.c_str());
                return 2;
            }
            std::fprintf(stderr, "%s\n", each.c_str());
            target(bytes);
            // Runs each beginning too, because cut-off data is also an input.
            for (std::size_t size = 0; size < bytes.size(); ++size)
                target(std::string_view(bytes).substr(0, size));
            ++inputs;
        }
    }
    std::printf("%d inputs and all their beginnings\n", inputs);
    return inputs == 0 ? 1 : 0;
}
