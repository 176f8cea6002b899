// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The extension module dlmb_torch.native.
#include "launch/torch/process_group.hpp"

#include <pybind11/chrono.h>
#include <torch/csrc/utils/pybind.h>

namespace py = pybind11;
using namespace dlmb::torch;

namespace {

py::dict to_python(Used const& used) {
    using namespace py::literals;
    return py::dict("operation"_a = used.operation, "bytes"_a = used.bytes, "ranks"_a = used.ranks,
                    "backend"_a = used.backend, "method"_a = used.method, "rule"_a = used.rule,
                    "why_not"_a = used.why_not, "calls"_a = used.calls);
}

py::list report(Runtime const& runtime) {
    py::list all;
    for (Used const& used : runtime.report()) {
        all.append(to_python(used));
    }
    return all;
}

c10::intrusive_ptr<Registered> make_group(std::shared_ptr<Runtime> const& runtime,
                                          c10::intrusive_ptr<c10d::Store> const& store, int rank, int size,
                                          std::chrono::milliseconds timeout) {
    return c10::make_intrusive<ProcessGroup>(runtime, store, rank, size, timeout);
}

}  // namespace

PYBIND11_MODULE(native, module) {
    // Waiting for other ranks must not keep the interpreter from other threads, the store's among them.
    using Unlocked = py::call_guard<py::gil_scoped_release>;
    py::class_<Runtime, std::shared_ptr<Runtime>>(module, "Runtime")
        .def(py::init<std::string const&>(), Unlocked())
        .def_property_readonly("rank", &Runtime::rank)
        .def_property_readonly("size", &Runtime::size)
        .def_property_readonly("note", &Runtime::note)
        .def("report", &report)
        .def("broadcast", &Runtime::broadcast, Unlocked())
        .def("make_group", &make_group, Unlocked())
        .def("close", &Runtime::close, Unlocked());
}
