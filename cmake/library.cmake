# Exports only marked names, see <leasehold/detail/export.hpp>, or with LEASEHOLD_EXPORT_INTERNALS
# all names.
function(leasehold_visibility target)
    if(LEASEHOLD_EXPORT_INTERNALS)
        target_compile_definitions(${target} PUBLIC LEASEHOLD_EXPORTS_INTERNALS)
    else()
        set_target_properties(${target} PROPERTIES
            CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    endif()
endfunction()

# leasehold_library(NAME SOURCES...): adds the library leasehold_NAME, with the alias
# leasehold::NAME.
function(leasehold_library name)
    set(target leasehold_${name})
    add_library(${target} ${ARGN})
    add_library(leasehold::${name} ALIAS ${target})
    target_compile_features(${target} PUBLIC cxx_std_20)
    target_include_directories(${target}
        PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
        PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/generated)
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} CXX_EXTENSIONS OFF)
    leasehold_visibility(${target})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "SHARED_LIBRARY")
        string(TOUPPER ${name} upper)
        target_compile_definitions(${target} PUBLIC LEASEHOLD_SHARED
            PRIVATE LEASEHOLD_BUILDS_${upper})
    endif()
    leasehold_warnings(${target})
endfunction()

# leasehold_optional_library(NAME SOURCES...): the same. Another project builds it only if it links
# it.
function(leasehold_optional_library name)
    leasehold_library(${name} ${ARGN})
    if(NOT PROJECT_IS_TOP_LEVEL AND NOT LEASEHOLD_INSTALL)
        set_target_properties(leasehold_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
endfunction()
