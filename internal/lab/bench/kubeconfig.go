package main

// kubeconfigVariable names the control plane to the benchmarks that need one; without
// it they start their own.
const kubeconfigVariable = "BENCH_KUBECONFIG"
