// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/network/link_loads.hpp"

#include <algorithm>

namespace dlmb::predict {

LinkLoads::LinkLoads(Interconnect const& interconnect) : interconnect_(&interconnect), bytes_(interconnect.links()) {}

void LinkLoads::add(int from, int to, double bytes) {
    if (from == to) {
        return;
    }
    interconnect_->route(from, to, route_);
    for (LinkId const link : route_) {
        bytes_[link] += bytes;
    }
}

double LinkLoads::load(LinkId link) const {
    return bytes_[link] > 0 ? bytes_[link] / interconnect_->capacity(link) : 0;
}

LinkId LinkLoads::busiest() const {
    LinkId found = 0;
    double most = 0;
    for (LinkId link = 0; link < bytes_.size(); ++link) {
        if (double const here = load(link); here > most * (1 + 1e-9)) {
            most = here;
            found = link;
        }
    }
    return found;
}

double LinkLoads::mean() const {
    double sum = 0;
    int count = 0;
    for (LinkId link = 0; link < bytes_.size(); ++link) {
        if (interconnect_->capacity(link) > 0) {
            sum += load(link);
            ++count;
        }
    }
    return sum / count;
}

double LinkLoads::busiest_node() const {
    return *std::max_element(bytes_.begin(), bytes_.begin() + 2 * std::ptrdiff_t{interconnect_->nodes()});
}

double LinkLoads::share() const {
    double const most = largest();
    return most > 0 ? busiest_node() / most : 1;
}

LinkLoads uniform_loads(Interconnect const& interconnect, double bytes) {
    std::vector<int> const sources = interconnect.representatives();
    LinkLoads part(interconnect);
    for (int const from : sources) {
        for (int to = 0; to < interconnect.nodes(); ++to) {
            part.add(from, to, bytes);
        }
    }
    // What the images of the sources add to all links of a class together, they add evenly.
    std::vector<double> of_class(interconnect.links());
    std::vector<double> members(interconnect.links());
    for (LinkId link = 0; link < interconnect.links(); ++link) {
        of_class[interconnect.class_of(link)] += part.bytes(link);
        members[interconnect.class_of(link)] += 1;
    }
    double const images = static_cast<double>(interconnect.nodes()) / static_cast<double>(sources.size());
    LinkLoads loads(interconnect);
    for (LinkId link = 0; link < interconnect.links(); ++link) {
        LinkId const same = interconnect.class_of(link);
        loads.add(link, of_class[same] / members[same] * images);
    }
    return loads;
}

double Bound::time_ps() const {
    return std::max({node_ps, link_ps, latency_ps});
}

std::string_view Bound::limit() const {
    if (latency_ps >= std::max(node_ps, link_ps)) {
        return "latency";
    }
    return link_ps > node_ps * (1 + 1e-9) ? "links" : "injection";
}

Bound bound_of(LinkLoads const& loads, double latency_ps, double bytes_per_ps) {
    LinkId const busiest = loads.busiest();
    double const largest = loads.load(busiest);
    return {loads.busiest_node() / bytes_per_ps,
            largest / bytes_per_ps,
            latency_ps,
            loads.share(),
            largest > 0 ? loads.mean() / largest : 0,
            largest > 0 ? loads.interconnect().name(busiest) : ""};
}

}  // namespace dlmb::predict
