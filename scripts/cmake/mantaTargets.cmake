# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
#
# Defines the targets of manta, for the installed mantaConfig.cmake and for the CMakeLists.txt beside this file.
#
#   manta::manta     the headers alone: each source that includes them compiles what it needs
#   manta::compiled  the engine and the libraries, compiled once; it is linked in place of manta::manta
#   manta::run       the program manta-run, for tests: add_test(NAME t COMMAND manta::run -n 4 $<TARGET_FILE:t>)
cmake_policy(VERSION 3.18)

# include_dir  the folder that contains manta/manta.hpp
# bin_dir      the folder that contains manta-run
# library      the installed libmanta.a; if it is empty, manta::compiled is built in the project that uses it
# problem      the variable that says afterwards, in a sentence, what is missing. It is empty if the targets are there.
function(manta_add_targets include_dir bin_dir library problem)
  set(${problem} "" PARENT_SCOPE)
  if(TARGET manta::manta)
    return()
  endif()

  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT CXX IN_LIST languages)
    set(${problem} "manta is a C++ library: name CXX among the languages of project()" PARENT_SCOPE)
    return()
  endif()

  find_package(MPI QUIET COMPONENTS CXX)
  if(NOT TARGET MPI::MPI_CXX)
    set(${problem} "manta needs MPI, and find_package(MPI COMPONENTS CXX) finds none: install Open MPI \
(libopenmpi-dev), load its module, or name its compiler by -DMPI_CXX_COMPILER=/path/to/mpicxx" PARENT_SCOPE)
    return()
  endif()

  set(THREADS_PREFER_PTHREAD_FLAG TRUE)
  find_package(Threads QUIET)
  if(NOT TARGET Threads::Threads)
    set(${problem} "manta needs POSIX threads, and find_package(Threads) finds none" PARENT_SCOPE)
    return()
  endif()

  # cereal is a folder of headers: it may have come as a package, as a part of this project, or by CPATH.
  if(NOT TARGET cereal::cereal)
    find_package(cereal QUIET CONFIG)
  endif()
  if(TARGET cereal::cereal)
    set(cereal cereal::cereal)
  else()
    find_path(CEREAL_INCLUDE_DIR cereal/cereal.hpp HINTS ENV CPATH ENV CPLUS_INCLUDE_PATH)
    if(NOT CEREAL_INCLUDE_DIR)
      set(${problem} "manta needs the headers of cereal, and finds no cereal/cereal.hpp: install libcereal-dev, or \
name its include folder by -DCEREAL_INCLUDE_DIR=/path/to/cereal/include" PARENT_SCOPE)
      return()
    endif()
  endif()

  add_library(manta::manta INTERFACE IMPORTED GLOBAL)
  target_include_directories(manta::manta SYSTEM INTERFACE "${include_dir}")
  if(NOT TARGET cereal::cereal)
    target_include_directories(manta::manta SYSTEM INTERFACE "${CEREAL_INCLUDE_DIR}")
  endif()
  target_compile_features(manta::manta INTERFACE cxx_std_20)
  # MPI's C++ bindings are of no use here and cost each source half a second.
  target_compile_definitions(manta::manta INTERFACE OMPI_SKIP_MPICXX)
  target_link_libraries(manta::manta INTERFACE MPI::MPI_CXX Threads::Threads ${cereal})

  add_executable(manta::run IMPORTED GLOBAL)
  set_target_properties(manta::run PROPERTIES IMPORTED_LOCATION "${bin_dir}/manta-run")

  if(library)
    add_library(manta::compiled STATIC IMPORTED GLOBAL)
    set_target_properties(manta::compiled PROPERTIES IMPORTED_LOCATION "${library}")
    target_compile_definitions(manta::compiled INTERFACE MANTA_COMPILED)
    target_link_libraries(manta::compiled INTERFACE manta::manta)
  else()
    manta_add_library("${include_dir}")
  endif()
endfunction()

# Builds manta::compiled in the project that uses it, where one of its targets is linked with it.
function(manta_add_library include_dir)
  # manta::compiled is imported here too, so that a project may install and export what it links with it.
  add_library(manta::compiled INTERFACE IMPORTED GLOBAL)
  target_link_libraries(manta::compiled INTERFACE manta_compiled)
  file(GLOB library_sources "${include_dir}/manta/*/src*.cpp")
  add_library(manta_compiled STATIC EXCLUDE_FROM_ALL "${include_dir}/manta/src.cpp" ${library_sources})
  target_compile_definitions(manta_compiled PUBLIC MANTA_COMPILED PRIVATE MANTA_SOURCES_APART)
  target_link_libraries(manta_compiled PUBLIC manta::manta)
  set_target_properties(manta_compiled PROPERTIES POSITION_INDEPENDENT_CODE TRUE)
  # Where the project names no CMAKE_BUILD_TYPE the engine is optimised all the same.
  target_compile_options(manta_compiled PRIVATE $<$<CONFIG:>:-O2>)

  # Headers that some of the libraries need. A library whose headers are missing is left out.
  foreach(target IN ITEMS Eigen3::Eigen nlohmann_json::nlohmann_json)
    string(REGEX REPLACE "::.*" "" package ${target})
    if(NOT TARGET ${target})
      find_package(${package} QUIET CONFIG)
    endif()
    if(TARGET ${target})
      target_include_directories(
        manta_compiled SYSTEM PRIVATE $<TARGET_PROPERTY:${target},INTERFACE_INCLUDE_DIRECTORIES>)
    endif()
  endforeach()
endfunction()
