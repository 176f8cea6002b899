// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Every option and every program of both suites, and what they are here.
#include "common/run/options/suites.hpp"

namespace dlmb::run {
namespace {

constexpr std::string_view one_gpu = "mpirun starts one process per GPU";

// OSU Micro-Benchmarks 7.4 and 7.5, c/util/osu_util_options.h.
constexpr SuiteOption osu_options[] = {
    {"-m", "--message-size", "[MIN:]MAX", Meaning::size_range, "message-size", "",
     "`-m MIN:MAX`; either end may be left out"},
    {"-i", "--iterations", "N", Meaning::option, "iterations", "", "`--iterations N`"},
    {"-x", "--warmup", "N", Meaning::option, "warmup", "", "`--warmup N`"},
    {"-c", "--validation", "[log:DIR]", Meaning::validation, "validation", "",
     "`--validation on`, the default; `log:` is refused"},
    {"-u", "--validation-warmup", "N", Meaning::ignored, "", "", "bytes are checked before and after the timed calls"},
    {"-f", "--full", "", Meaning::ignored, "", "",
     "latencies always have these columns; the parts of a non-blocking call (init, test, wait) are not measured"},
    {"-z", "--tail-lat", "[P,P,...]", Meaning::option, "percentiles", "50,90,99", "`--percentiles 50,90,99`"},
    {"-T", "--type", "TYPE", Meaning::element, "element", "",
     "`--element int8`, `int32` or `fp32`; `all` is a list of them"},
    {"-l", "--in-place", "", Meaning::fixed, "in-place", "on", "`--in-place on`"},
    {"-k", "--root-rank", "fixed:R", Meaning::root, "root", "",
     "`--root R`; not `rotate`: a list, `--root 0,1,2`, gives each root a row of its own"},
    {"-d", "--accelerator", "TYPE", Meaning::memory, "memory", "",
     "`--memory cuda` or `managed`; `D D` and `H H` are understood"},
    {"-M", "--mem-limit", "SIZE", Meaning::option, "buffer-limit", "",
     "`--buffer-limit SIZE`: larger points are skipped"},
    {"-b", "--buffer-num", "KIND", Meaning::buffers, "cache", "",
     "`single`: `--cache warm`, `multiple`: `--cache rotate`; of windows `--window-buffers KIND`"},
    {"-W", "--window-size", "N", Meaning::parameter, "window", "", "`--window N`, where the operation has windows"},
    {"-V", "--vary-window", "", Meaning::fixed, "window", "1,2,4,8,16,32,64,128", "`--window 1,2,4,8,16,32,64,128`"},
    {"-p", "--num-pairs", "N", Meaning::parameter, "pairs", "", "`--pairs N`, where the operation has pairs"},
    {"-R", "--print-rate", "0|1", Meaning::ignored, "", "", "the message rate is reported where there is one"},
    {"-h", "--help", "", Meaning::option, "help", "", "`--help`"},
    {"-v", "--version", "", Meaning::option, "version", "", "`--version`"},
    {"-G", "--graph", "TYPES", Meaning::refused, "", "", "write `--results FILE`; `dlmb_plot FILE` draws it"},
    {"-t", "--num-test-calls", "N:N", Meaning::threads, "channels", "",
     "`osu_latency_mt -t N:N`: `--channels N --method threads --mpi-thread multiple`; of OSU's non-blocking programs: "
     "`--compute none,busy --compute-progress on` looks after the operation all the time, `off` never"},
    {"-s", "--sync-option", "SYNC", Meaning::synchronization, "method", "flush",
     "`--method put:sync=SYNC`, of `osu_put_bw` and `osu_get_bw`: `flush`, `lock`, `lock_all`, `fence`, `pscw`"},
    {"-w", "--win-options", "KIND", Meaning::exposed_memory, "method", "allocate",
     "`--method put:window=KIND`, of these: `allocate` or `create`"},
    {"-a", "--array-size", "N", Meaning::refused, "", "", "`--compute`, in patterns that have it"},
    {"-r", "--cuda-target", "TARGET", Meaning::refused, "", "", "`--compute`, in patterns that have it"},
    {"-P", "--papi", "EVENTS", Meaning::refused, "", "", "run the program under `perf stat`"},
    {"-D", "--ddt", "TYPE", Meaning::refused, "", "", "`--method alltoallw` has derived datatypes"},
    {"-N", "--nhbr", "cart:D:R", Meaning::neighbors, "skew", "",
     "`--skew neighbors:D:R`, of `osu_neighbor_alltoall` and its like; not `graph`: `--skew file:FILE` has every "
     "block"},
    {"-I", "--session", "", Meaning::refused, "", "",
     "MPI is started by MPI_Init_thread; `--mpi-thread` sets its level"},
    {"-q", "--partitions", "[N]", Meaning::refused, "", "", "messages are sent whole"},
};

// nccl-tests 2.19.7, src/common.cu.
constexpr SuiteOption nccl_options[] = {
    {"-b", "--minbytes", "SIZE", Meaning::min_bytes, "message-size", "", "the first size (32M)"},
    {"-e", "--maxbytes", "SIZE", Meaning::max_bytes, "message-size", "", "the last size (32M)"},
    {"-i", "--stepbytes", "SIZE", Meaning::step_bytes, "message-size", "", "from one size to the next (1M)"},
    {"-f", "--stepfactor", "N", Meaning::step_factor, "message-size", "",
     "from one size to the next; `-m MIN:MAX` without `--cli` doubles"},
    {"-n", "--iters", "N", Meaning::option, "iterations", "", "`--iterations N`"},
    {"-w", "--warmup_iters", "N", Meaning::option, "warmup", "", "`--warmup N`"},
    {"-c", "--check", "N", Meaning::validation, "validation", "", "`0`: `--validation off`, otherwise `on`"},
    {"-o", "--op", "OP", Meaning::reduction, "reduction", "",
     "`--reduction OP`; `all` is sum,prod,min,max; not avg, mulsum"},
    {"-d", "--datatype", "TYPE", Meaning::element, "element", "", "`--element TYPE`; `all` is a list of ours"},
    {"-r", "--root", "R", Meaning::parameter, "root", "", "`--root R`"},
    {"-T", "--timeout", "SECONDS", Meaning::option, "timeout", "", "`--timeout SECONDS`"},
    {"-h", "--help", "", Meaning::option, "help", "", "`--help`"},
    {"-g", "--ngpus", "1", Meaning::only, "", "1", one_gpu},
    {"-t", "--nthreads", "1", Meaning::only, "", "1", one_gpu},
    {"-p", "--parallel_init", "0|1", Meaning::ignored, "", "", "every process initialises its own GPU"},
    {"-m", "--agg_iters", "1", Meaning::only, "", "1",
     "each call is a group of its own; `--timing stream` and `nccl` queue them back to back"},
    {"-a", "--average", "1", Meaning::only, "", "1",
     "the table has one time; the result line says what it is of the ranks'"},
    {"-z", "--blocking", "0|3", Meaning::blocking, "timing", "",
     "`3`: `--timing osu` (waits for each call, with a barrier outside of the time), 20 calls after 1 in several "
     "sets of buffers; not `1`, `2`: use `--timing isolated`"},
    {"-y", "--stream_null", "0", Meaning::only, "", "0", "calls are on a stream of their own"},
    {"-G", "--cudagraph", "0", Meaning::only, "", "0",
     "`--method graph` replays a graph of one call; nccl-tests has one of all calls"},
    {"-R", "--local_register", "0|1|2", Meaning::registration, "method", "",
     "`1`: `--method registered`; `2`: with `--memory nccl`, symmetric windows"},
    {"-N", "--run_cycles", "1", Meaning::only, "", "1", "`dlmb_sweep` starts a program many times"},
    {"-C", "--report_cputime", "0|1", Meaning::host_times, "", "",
     "`1`: the column `cputime` is the host's time to queue a call, the mean over ranks"},
    {"-S", "--report_timestamps", "0", Meaning::only, "", "0", "the launch line of `--results FILE` has the time"},
    {"-x", "--cta_policy", "N", Meaning::refused, "", "", "set NCCL_CTA_POLICY in the environment"},
    {"-D", "--device_implementation", "0", Meaning::only, "", "0", "operations are those of NCCL's host interface"},
    {"-V", "--device_cta_count", "N", Meaning::ignored, "", "", "counts only with `-D`"},
    {"-M", "--memory_report", "0", Meaning::only, "", "0", "buffers of 1 GiB and more are announced on standard error"},
    {"-u", "--unalign", "0", Meaning::only, "", "0", "buffers begin at pages"},
    {"-I", "--per_iter_timing", "0", Meaning::only, "", "0", "`--timing osu` times each call (`samples_ns`)"},
    {"-K", "--per_iter_skip", "N", Meaning::ignored, "", "", "counts only with `-I`"},
    {"-H", "--host_rma_implementation", "N", Meaning::refused, "", "",
     "one-sided calls are methods; `dlmb_info` lists them"},
    {"-J", "--output_file", "FILE", Meaning::refused, "", "", "write `--results FILE`"},
};

constexpr Bytes pair_largest = 1U << 22U;  // MAX_MESSAGE_SIZE of OSU

// The first row counts whose operation the program has.
constexpr SuiteProgram programs[] = {
    {"allreduce", "all_reduce", "allreduce"},
    {"reduce", "reduce", "reduce"},
    {"reduce_scatter", "", "reduce_scatter"},
    {"reduce_scatter_block", "reduce_scatter", "reduce_scatter_block"},
    {"", "reduce_scatter", "reduce_scatter"},
    {"allgather", "all_gather", "allgather", "", true},
    {"allgatherv", "", "allgatherv", "", true},
    {"gather", "gather", "gather", "", true},
    {"gatherv", "", "gatherv", "", true},
    {"scatter", "scatter", "scatter", "", true},
    {"scatterv", "", "scatterv", "", true},
    {"bcast", "broadcast", "broadcast"},
    {"barrier", "", "barrier"},
    {"alltoall", "alltoall", "alltoall", "", true},
    {"alltoallv", "alltoallv", "alltoallv", "", true, SuiteProgram{}.osu_largest, false, "distance:1"},
    {"", "sendrecv", "sendrecv"},
    {"", "hypercube", "sendrecv", "hypercube", true},
    {"latency", "", "sendrecv", "ping_pong", false, pair_largest},
    {"multi_lat", "", "sendrecv", "ping_pong", false, pair_largest},
    {"latency_mt", "", "sendrecv", "ping_pong", false, pair_largest, true},
    {"bw", "", "bandwidth", "", false, pair_largest},
    {"bibw", "", "bibandwidth", "", false, pair_largest},
    {"mbw_mr", "", "message_rate", "", false, pair_largest},
    {"bw_fan_in", "", "bandwidth", "fan_in", false, pair_largest},
    {"bw_fan_out", "", "bandwidth", "fan_out", false, pair_largest},
};

// OSU's 79 MPI programs are these, those above, of the collectives among those above osu_iNAME and osu_NAME_persistent,
// osu_(i)neighbor_alltoall(v), osu_put_bw and osu_get_bw.
constexpr std::string_view neighbor_blocks =
    "it has the blocks of osu_neighbor_alltoallv, which runs; datatypes: `--method alltoallw`";
constexpr std::string_view neighbor_parts =
    "the same block to every neighbour; osu_neighbor_alltoall, which runs, sends as many bytes to each";
constexpr RefusedProgram refused_rows[] = {
    {"osu_put_latency", "write `--operation sendrecv --route ping_pong --method put:sync=flush:window=allocate`"},
    {"osu_get_latency", "write `--operation sendrecv --route ping_pong --method get:sync=flush:window=allocate`"},
    {"osu_acc_latency", "write `--operation reduce_scatter_block --method accumulate:sync=flush:window=allocate`"},
    {"osu_put_bibw", "write `--operation bibandwidth --method put:sync=flush:window=allocate`"},
    {"osu_get_acc_latency", "atomic one-sided calls are not measured here"},
    {"osu_cas_latency", "atomic one-sided calls are not measured here"},
    {"osu_fop_latency", "atomic one-sided calls are not measured here"},
    {"osu_neighbor_alltoallw", neighbor_blocks},
    {"osu_neighbor_allgather", neighbor_parts},
    {"osu_neighbor_allgatherv", neighbor_parts},
    {"osu_ineighbor_alltoallw", neighbor_blocks},
    {"osu_ineighbor_allgather", neighbor_parts},
    {"osu_ineighbor_allgatherv", neighbor_parts},
    {"osu_ialltoallw", "MPI_Alltoallw is measured blocking here: `--method alltoallw`"},
    {"osu_alltoallw_persistent", "MPI_Alltoallw is measured blocking here: `--method alltoallw`"},
    {"osu_partitioned_latency", "messages are sent whole here, as by osu_latency"},
    {"osu_latency_mp",
     "MPI leaves open what a process that forked after MPI_Init may do; osu_multi_lat measures several pairs"},
    {"osu_init", "write `mpirun -np N dlmb_info --startup`"},
    {"osu_hello", "write `time mpirun -np N dlmb_info --startup`: it has no time of its own but the launch's"},
};

}  // namespace

std::span<RefusedProgram const> refused_programs() {
    return refused_rows;
}

std::span<SuiteOption const> options_of(Suite suite) {
    return suite == Suite::osu ? std::span<SuiteOption const>(osu_options) : std::span<SuiteOption const>(nccl_options);
}

std::span<SuiteProgram const> suite_programs() {
    return programs;
}

}  // namespace dlmb::run
