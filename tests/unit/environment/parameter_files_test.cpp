// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/environment/parameter_files.hpp"
#include "tests/unit/record/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace dlmb::measure {
namespace {

class ParameterFiles : public ::testing::Test {
protected:
    void write(std::string const& file, std::string const& text) const { record::write_file(root_ / file, text); }

    record::TemporaryFolder const folder_;
    std::filesystem::path const root_ = folder_ / "";
    Variables const somebody_{{"HOME", "/people/somebody"}};
};

TEST_F(ParameterFiles, OfOpenMpiAreThoseThatItNamesTheFirstFirst) {
    write("people/somebody/.openmpi/mca-params.conf", "# mine\npml = ob1\n\n  btl=self,tcp\n");
    write("etc/openmpi/openmpi-mca-params.conf", "pml = ucx\nosc = pt2pt\n");
    Variables const settings = file_settings(
        somebody_, "/people/somebody/.openmpi/mca-params.conf:/etc/openmpi/openmpi-mca-params.conf,/not/there", root_);
    EXPECT_EQ(settings.at("OMPI_MCA_pml"), "ob1");
    EXPECT_EQ(settings.at("OMPI_MCA_osc"), "pt2pt");
    EXPECT_EQ(settings.size(), 3U);
}

TEST_F(ParameterFiles, AVariableOfTheEnvironmentOutweighsThem) {
    write("mca.conf", "pml = ob1\nosc = pt2pt\n");
    Variables environment = somebody_;
    environment["OMPI_MCA_pml"] = "ucx";
    EXPECT_EQ(file_settings(environment, "/mca.conf", root_), (Variables{{"OMPI_MCA_osc", "pt2pt"}}));
}

TEST_F(ParameterFiles, OfUcxAndNcclAreWhereTheyReadThem) {
    write("people/somebody/ucx.conf", "UCX_TLS=tcp\n[Some processor]\nUCX_RNDV_THRESH=1k\n");
    write("people/somebody/.nccl.conf", "NCCL_ALGO=Ring\n");
    write("etc/nccl.conf", "NCCL_ALGO=Tree\nNCCL_PROTO=LL\n");
    EXPECT_EQ(file_settings(somebody_, "", root_),
              (Variables{{"UCX_TLS", "tcp"}, {"NCCL_ALGO", "Ring"}, {"NCCL_PROTO", "LL"}}));
    write("elsewhere/nccl.conf", "NCCL_ALGO=NVLS\n");
    Variables environment = somebody_;
    environment["NCCL_CONF_FILE"] = "/elsewhere/nccl.conf";
    EXPECT_EQ(file_settings(environment, "", root_).at("NCCL_ALGO"), "NVLS");
}

TEST_F(ParameterFiles, AreShownAsVariablesAre) {
    EXPECT_EQ(file_settings_text({{"OMPI_MCA_pml", "ob1"}, {"UCX_TLS", "tcp,self"}}),
              "OMPI_MCA_pml=ob1 UCX_TLS=tcp,self");
    EXPECT_EQ(file_settings_text({}), "");
    EXPECT_EQ(file_settings_text({{"OMPI_MCA_no_such_thing", "password=hunter2"}}).find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace dlmb::measure
