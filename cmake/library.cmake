# leasehold_library(NAME SOURCES...): the library leasehold_NAME, for its users leasehold::NAME.
function(leasehold_library name)
    set(target leasehold_${name})
    add_library(${target} ${ARGN})
    add_library(leasehold::${name} ALIAS ${target})
    target_compile_features(${target} PUBLIC cxx_std_20)
    target_include_directories(${target}
        PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
        PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/generated)
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} CXX_EXTENSIONS OFF
        CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "SHARED_LIBRARY")
        string(TOUPPER ${name} upper)
        target_compile_definitions(${target} PUBLIC LEASEHOLD_SHARED
            PRIVATE LEASEHOLD_BUILDS_${upper})
    endif()
    leasehold_warnings(${target})
endfunction()
