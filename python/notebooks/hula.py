import heddle as hd

sweep = hd.sweep(
    "../../scenarios/hula-fig5.toml",
    {"scheme": ["ecmp", "hula"], "load": [0.3, 0.5, 0.7]},
    seeds=[1],
    flows=1000,
)
sweep.plot["mean-by-workload.load"]
