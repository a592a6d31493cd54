// The contract of every store, for a store that is a quorum of five servers.
#include <boost/test/unit_test.hpp>

#include "support/quorum_deployment.hpp"
#include "support/store_contract.hpp"

#include <leasehold/redis.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace {

using namespace leasehold;
using namespace leasehold::test;

/// The servers are the same in all cases.
quorum_deployment& servers()
{
    static quorum_deployment five(5);
    return five;
}

class quorum_lab final : public store_lab
{
public:
    explicit quorum_lab(unsigned grants) : grants_(grants) { clear(); }

    std::shared_ptr<store> make_store() override
    {
        redis_config settings = servers().settings();
        settings.quorum = grants_;
        return make_redis_store(settings);
    }
    void erase(std::string_view name) override { servers().command({"DEL", std::string(name)}); }
    bool is_everywhere(std::string_view name) override
    {
        for (std::size_t i = 0; i < servers().size(); ++i) {
            if (servers()[i].connect().integer({"EXISTS", std::string(name)}) == 0)
                return false;
        }
        return true;
    }
    void clear() override { servers().command({"FLUSHALL"}); }

private:
    const unsigned grants_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(majority)
const bool added = add_store_contract([] { return std::make_unique<quorum_lab>(3); });
BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(all_but_one)
const bool added = add_store_contract([] { return std::make_unique<quorum_lab>(4); });
BOOST_AUTO_TEST_SUITE_END()
