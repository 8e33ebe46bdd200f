# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
#
# Defines the targets of manta, for the installed mantaConfig.cmake and for the CMakeLists.txt beside this file.
#
#   manta::manta     the headers alone: each source that includes them compiles what it needs
#   manta::core      the engine, compiled once; it is linked in place of manta::manta
#   manta::tune, manta::nn, manta::train, manta::rl, manta::serve, manta::output, manta::torch
#                    a library with the engine and all else that it needs, compiled once
#   manta::compiled  the engine and all libraries
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
    foreach(name IN ITEMS core output tune nn train rl serve torch)
      add_library(manta::${name} INTERFACE IMPORTED GLOBAL)
      target_link_libraries(manta::${name} INTERFACE manta::compiled)
    endforeach()
  else()
    manta_add_libraries("${include_dir}/manta")
  endif()
endfunction()

# Builds the engine and the libraries in the project that uses them, each where a target is linked with it.
function(manta_add_libraries folder)
  # Headers that some of the libraries need. A library whose headers are missing is left out.
  set(packages)
  foreach(target IN ITEMS Eigen3::Eigen nlohmann_json::nlohmann_json)
    string(REGEX REPLACE "::.*" "" package ${target})
    if(NOT TARGET ${target})
      find_package(${package} QUIET CONFIG)
    endif()
    if(TARGET ${target})
      list(APPEND packages $<TARGET_PROPERTY:${target},INTERFACE_INCLUDE_DIRECTORIES>)
    endif()
  endforeach()

  # What else of the libraries each one needs, as meson.build has it.
  set(needs_core)
  foreach(name IN ITEMS output nn)
    set(needs_${name} core)
  endforeach()
  set(needs_tune core output)
  foreach(name IN ITEMS train rl)
    set(needs_${name} tune nn ${needs_tune})
  endforeach()
  set(needs_serve train rl ${needs_rl})
  set(needs_torch serve ${needs_serve})

  add_library(manta::compiled INTERFACE IMPORTED GLOBAL)
  foreach(name IN ITEMS core output tune nn train rl serve torch)
    file(GLOB sources "${folder}/${name}/src*.cpp")
    if(name STREQUAL "core")
      set(sources "${folder}/src.cpp")
    endif()
    add_library(manta_${name} STATIC EXCLUDE_FROM_ALL ${sources})
    target_compile_definitions(manta_${name} PUBLIC MANTA_COMPILED PRIVATE MANTA_SOURCES_APART)
    target_link_libraries(manta_${name} PUBLIC manta::manta)
    target_include_directories(manta_${name} SYSTEM PRIVATE ${packages})
    set_target_properties(manta_${name} PROPERTIES POSITION_INDEPENDENT_CODE TRUE)
    # Where the project names no CMAKE_BUILD_TYPE the engine is optimised all the same.
    target_compile_options(manta_${name} PRIVATE $<$<CONFIG:>:-O2>)
    foreach(need IN LISTS needs_${name})
      target_link_libraries(manta_${name} PUBLIC manta_${need})
    endforeach()

    # These are imported here too, so that a project may install and export what it links with them.
    add_library(manta::${name} INTERFACE IMPORTED GLOBAL)
    target_link_libraries(manta::${name} INTERFACE manta_${name})
    target_link_libraries(manta::compiled INTERFACE manta_${name})
  endforeach()
endfunction()
