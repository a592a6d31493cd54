# Each example checks its own result. A test runs it with small numbers.
set(with_redis ${CMAKE_CURRENT_SOURCE_DIR}/with_redis)

# leasehold_example_test(TEST COMMAND...): a test without a server.
function(leasehold_example_test test)
    add_test(NAME ${test} COMMAND ${ARGN})
    # The tests ignore a server in the environment.
    set_tests_properties(${test} PROPERTIES TIMEOUT 120 ENVIRONMENT LEASEHOLD_URL=)
endfunction()

leasehold_example_test(example_first $<TARGET_FILE:example_first>)
leasehold_example_test(example_signup $<TARGET_FILE:example_signup>)
leasehold_example_test(example_callbacks $<TARGET_FILE:example_callbacks>)
leasehold_example_test(example_composed $<TARGET_FILE:example_composed>)
leasehold_example_test(example_guarded_work $<TARGET_FILE:example_guarded_work>)
leasehold_example_test(example_low_latency $<TARGET_FILE:example_low_latency> --times 100)
leasehold_example_test(example_metrics $<TARGET_FILE:example_metrics>)
leasehold_example_test(example_fenced_files $<TARGET_FILE:example_fenced_files>)
# Prometheus scrapes the example and evaluates the queries of the dashboard.
find_program(LEASEHOLD_PROMETHEUS prometheus)
if(LEASEHOLD_PROMETHEUS AND LEASEHOLD_PYTHON)
    leasehold_example_test(example_metrics_prometheus ${LEASEHOLD_PYTHON}
        ${PROJECT_SOURCE_DIR}/test/metrics/prometheus.py ${LEASEHOLD_PROMETHEUS}
        $<TARGET_FILE:example_metrics> ${PROJECT_SOURCE_DIR}/monitoring)
    set_tests_properties(example_metrics_prometheus PROPERTIES TIMEOUT 300)
endif()
leasehold_example_test(example_simulate $<TARGET_FILE:example_simulate> --seeds 500)

leasehold_example_test(example_redis_first
    ${with_redis} bash -c "exec \"$0\" \"$LEASEHOLD_URL\"" $<TARGET_FILE:example_first>)
leasehold_example_test(example_redis_low_latency
    ${with_redis} $<TARGET_FILE:example_low_latency> --times 100)
foreach(name signup callbacks composed guarded_work metrics reenter)
    leasehold_example_test(example_redis_${name} ${with_redis} $<TARGET_FILE:example_${name}>)
endforeach()
leasehold_example_test(example_redis_stock
    ${with_redis} $<TARGET_FILE:example_stock> --stock 150 --processes 3 --coroutines 4)
leasehold_example_test(example_redis_stock_kill ${with_redis} $<TARGET_FILE:example_stock>
    --stock 150 --processes 3 --coroutines 4 --lease-ms 500 --kill-one)
leasehold_example_test(example_redis_stock_unsafe ${with_redis} $<TARGET_FILE:example_stock>
    --stock 50 --processes 3 --coroutines 4 --unsafe)
leasehold_example_test(example_redis_optimistic
    ${with_redis} $<TARGET_FILE:example_optimistic> --stock 40 --items 20 --traders 6)
leasehold_example_test(example_redis_late_write ${with_redis} $<TARGET_FILE:example_late_write>)
set(stores)
if(TARGET leasehold_postgres)
    list(APPEND stores postgres)
endif()
if(TARGET leasehold_mysql)
    list(APPEND stores mysql)
endif()
if(stock_in_zookeeper)
    list(APPEND stores zookeeper)
endif()
if(TARGET leasehold_etcd)
    list(APPEND stores etcd)
endif()
foreach(store IN LISTS stores)
    set(with_store ${CMAKE_CURRENT_SOURCE_DIR}/with_${store})
    leasehold_example_test(example_${store}_stock ${with_store} $<TARGET_FILE:example_stock>
        --stock 150 --processes 3 --coroutines 4 --lease-ms 500 --kill-one)
    leasehold_example_test(example_${store}_stock_unsafe
        ${with_store} $<TARGET_FILE:example_stock> --stock 20 --processes 3 --coroutines 4 --unsafe)
    leasehold_example_test(example_${store}_late_write
        ${with_store} $<TARGET_FILE:example_late_write>)
    # Without the server they are skipped.
    set_tests_properties(example_${store}_stock example_${store}_stock_unsafe
        example_${store}_late_write PROPERTIES SKIP_REGULAR_EXPRESSION "is not installed")
endforeach()
foreach(topology sentinel cluster redlock)
    leasehold_example_test(example_topology_${topology}
        ${with_redis} ${CMAKE_CURRENT_SOURCE_DIR}/with_topology ${topology} bash -c
        "exec \"$0\" --stock 300 --processes 3 --coroutines 4 --halfway \"$LEASEHOLD_FAULT\""
        $<TARGET_FILE:example_stock>)
endforeach()
leasehold_example_test(example_redis_cron_once ${with_redis} $<TARGET_FILE:example_cron_once>
    --ticks 10 --tick-ms 20 --lease-ms 500)
leasehold_example_test(example_redis_embedded
    ${with_redis} $<TARGET_FILE:example_embedded> --bookings 20)
leasehold_example_test(example_redis_embedded_stop
    ${with_redis} ${CMAKE_CURRENT_SOURCE_DIR}/test/embedded_stop
    $<TARGET_FILE:example_embedded>)
leasehold_example_test(example_arguments
    ${CMAKE_CURRENT_SOURCE_DIR}/test/arguments $<TARGET_FILE_DIR:example_stock>)
leasehold_example_test(example_with_redis ${CMAKE_CURRENT_SOURCE_DIR}/test/with_redis ${with_redis})
