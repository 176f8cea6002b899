# PyTorch as a python3 imports it: Torch_FOUND, Torch_VERSION, the target Torch::python for extension modules, TORCH_MODULE_SUFFIX and
# TORCH_PYTHON. PyTorch's own CMake package asks for what it was built with (CUDA, protobuf), which an extension does not need.
set(DLMB_TORCH_PYTHON "" CACHE FILEPATH "python3 whose PyTorch launch/torch is built for; empty: the first that has one")
set(torch_facts [[
import os, sysconfig, torch
from torch.utils import cpp_extension
if not torch.distributed.is_available() or not torch._C._GLIBCXX_USE_CXX11_ABI:
    raise SystemExit("torch.distributed and the C++11 ABI are needed")
abi = [f'{name}="{value}"' for name in ("COMPILER_TYPE", "STDLIB", "BUILD_ABI")
       if (value := getattr(torch._C, f"_PYBIND11_{name}", None)) is not None]
print(torch.__version__.split("+")[0])
print(";".join(filter(os.path.isdir, [*cpp_extension.include_paths(), sysconfig.get_path("include")])))
print(cpp_extension.library_paths()[0])
print(sysconfig.get_config_var("EXT_SUFFIX"))
print(";".join(f"PYBIND11_{definition}" for definition in abi))
]])
if(DLMB_TORCH_PYTHON)
    set(torch_pythons ${DLMB_TORCH_PYTHON})
else()
    set(torch_pythons python3 /usr/bin/python3) # a distribution's packages belong to its own python3, which another one may hide
endif()
foreach(python IN LISTS torch_pythons)
    execute_process(COMMAND ${python} -c "${torch_facts}" RESULT_VARIABLE failed OUTPUT_VARIABLE facts ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT failed)
        set(TORCH_PYTHON ${python})
        string(REGEX MATCH "^([^\n]*)\n([^\n]*)\n([^\n]*)\n([^\n]*)\n?([^\n]*)" facts "${facts}")
        set(Torch_VERSION ${CMAKE_MATCH_1})
        set(TORCH_INCLUDES ${CMAKE_MATCH_2})
        set(TORCH_LIBRARY_FOLDER ${CMAKE_MATCH_3})
        set(TORCH_MODULE_SUFFIX ${CMAKE_MATCH_4})
        set(TORCH_DEFINITIONS ${CMAKE_MATCH_5})
        break()
    endif()
endforeach()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Torch REQUIRED_VARS TORCH_PYTHON TORCH_LIBRARY_FOLDER VERSION_VAR Torch_VERSION)
if(Torch_FOUND AND NOT TARGET Torch::python)
    add_library(Torch::python INTERFACE IMPORTED)
    target_include_directories(Torch::python SYSTEM INTERFACE ${TORCH_INCLUDES})
    target_compile_definitions(Torch::python INTERFACE ${TORCH_DEFINITIONS})
    target_link_libraries(Torch::python INTERFACE -L${TORCH_LIBRARY_FOLDER} torch_python torch torch_cpu c10)
endif()
