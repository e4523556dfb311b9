//! Every kind of block with made-up data, to look at: `cargo run --example gallery > gallery.html`.

use heddle_report::{
    Axis, Block, Cell, FabricMap, Link, Node, Plot, Point, Report, Run, Section, Series, Status,
    Style, Table, Unit,
};

/// Mean completion times in seconds at light load, and the load (percent) at which a scheme gives
/// in.
const SCHEMES: [(&str, f64, f64); 4] = [
    ("TCP + ECMP", 0.0042, 68.0),
    ("TCP + HULA", 0.0040, 96.0),
    ("MPTCP + ECMP", 0.0045, 88.0),
    ("MPTCP + MP-HULA", 0.0038, 118.0),
];

fn main() {
    let report = Report::new("MP-HULA: flow completion times under web search traffic")
        .subtitle("Two-pod fabric, 40 Gbps core. All numbers on this page are **made up**.")
        .fact("Scheme", "`mp-hula`, best k = 2")
        .fact("Seeds", "1, 2, 3")
        .fact("Flows", "20,000 per run")
        .fact("Version", "0.1.0")
        .section(summary())
        .section(completion_times())
        .section(distributions())
        .section(over_time())
        .section(fabric())
        .section(odds_and_ends());
    print!("{}", report.to_html());
}

fn summary() -> Section {
    let claims = Table::new(["Claim", "Paper", "Here", "95 % interval", "Verdict"])
        .caption("The paper's claims and what became of them.")
        .row([
            Cell::from("[M1](#mean) at 50 % load, against MPTCP + HULA"),
            "1.27x".into(),
            "1.24x".into(),
            "1.19 – 1.30".into(),
            Cell::badge("reproduced", Status::Good),
        ])
        .row([
            Cell::from("[M1](#mean) at 90 % load"),
            "1.50x".into(),
            "1.31x".into(),
            "1.22 – 1.41".into(),
            Cell::badge("direction only", Status::Warn),
        ])
        .row([
            Cell::from("[M2](#small) flows below 100 KB at 90 %"),
            "1.82x".into(),
            "0.97x".into(),
            "0.93 – 1.02".into(),
            Cell::badge("contradicted", Status::Bad),
        ])
        .row([
            Cell::from("M7 memory of the parser"),
            "21 MB".into(),
            "".into(),
            "".into(),
            Cell::badge("not run", Status::Neutral),
        ]);
    Section::new("summary", "Summary")
        .block(
            "Subflows of one connection kept on **different paths** cut the mean completion time \
             at every load; the gain grows with the load (see [completion times](#times)). \
             It comes from the largest flows.\n\n\
             Each point is the mean of three seeds; bars are 95 % confidence intervals \
             (`student-t`, two degrees of freedom).",
        )
        .block(claims)
}

fn load_axis() -> Axis {
    Axis::new("Offered load", Unit::plain("%"))
}

/// Completion time by load: a queue that gives in at `limit`.
fn by_load(base: f64, limit: f64) -> impl Iterator<Item = (f64, f64)> {
    (1..=9).map(move |i| {
        let load = f64::from(i) * 10.0;
        (load, base / (1.0 - load / (limit + 25.0)).max(0.03))
    })
}

fn with_bar((x, y): (f64, f64)) -> Point {
    let spread = 0.03 + 0.0012 * x;
    Point::from((x, y, y * (1.0 - spread), y * (1.0 + spread)))
}

fn completion_times() -> Section {
    let time = Axis::new("Mean flow completion time", Unit::si("s"));
    let mut mean = Plot::new("mean", "Mean flow completion time, all flows", load_axis(), time)
        .vertical(62.5, "core saturates under ECMP")
        .caption("Web search sizes, coupled congestion control (LIA), two subflows.");
    for (name, base, limit) in SCHEMES {
        mean = mean.series(Series::line(name, by_load(base, limit).map(with_bar)));
    }
    let small = |id: &str, title: &str, style: Style| {
        let y = Axis::new("FCT relative to TCP + ECMP", Unit::None).within(0.0, 1.2);
        SCHEMES.iter().skip(1).fold(
            Plot::new(id, title, load_axis(), y).horizontal(1.0, "TCP + ECMP"),
            |plot, &(name, base, limit)| {
                let reference = by_load(SCHEMES[0].1, SCHEMES[0].2);
                let ratio = by_load(base, limit).zip(reference).map(|((x, y), (_, r))| (x, y / r));
                plot.series(Series::new(name, style, ratio))
            },
        )
    };
    Section::new("times", "Completion times").block(mean).block(Block::pair(
        small("paper", "Paper, Fig. 6: flows below 100 KB", Style::Dashed),
        small("small", "Here: flows below 100 KB", Style::Line),
    ))
}

/// Numbers between 0 and 1, the same ones every time (Knuth's MMIX generator).
fn noise(seed: u64) -> impl Iterator<Item = f64> {
    let next = |s: &u64| {
        Some(s.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407))
    };
    std::iter::successors(Some(seed), next).skip(3).map(|s| (s >> 11) as f64 / (1_u64 << 53) as f64)
}

fn distributions() -> Section {
    let time = Axis::new("Flow completion time", Unit::si("s")).log();
    let share = Axis::new("Share of flows", Unit::None).within(0.0, 1.0);
    let mut cdf =
        Plot::new("cdf", "Flow completion times at 80 % load", time, share).horizontal(0.99, "p99");
    for (i, (name, base, limit)) in SCHEMES.into_iter().enumerate() {
        let spread = 1.0 + 30.0 / limit;
        let sample = noise(i as u64 + 7).take(800);
        let mut times: Vec<f64> = sample
            .map(|u| {
                base * 0.05 * libm::pow(1.0 / (1.02 - u), spread) * libm::exp(250.0 / limit * u)
            })
            .collect();
        times.sort_by(f64::total_cmp);
        let count = times.len() as f64;
        let steps = times.into_iter().enumerate().map(|(i, t)| (t, (i + 1) as f64 / count));
        cdf = cdf.series(Series::step(name, steps));
    }
    let sizes = Axis::new("Flow size", Unit::si("B")).log();
    let slowdown = Axis::new("Slowdown", Unit::None).log();
    let mut scatter = Plot::new("slowdown", "Slowdown by flow size", sizes, slowdown)
        .caption("One dot a flow; 400 flows drawn at random of each scheme.");
    for (i, (name, _, limit)) in SCHEMES.into_iter().enumerate().step_by(3) {
        let pairs: Vec<f64> = noise(i as u64 + 40).take(800).collect();
        let flow = |p: &[f64]| {
            let size = libm::pow(10.0, 3.0 + 5.0 * p[0]);
            (size, 1.0 + libm::pow(size, 0.16) * 60.0 / limit * libm::pow(p[1], 2.0) * 3.0)
        };
        scatter = scatter.series(Series::new(name, Style::Markers, pairs.chunks(2).map(flow)));
    }
    Section::new("distributions", "Distributions").block(cdf).block(scatter)
}

fn over_time() -> Section {
    let time = Axis::new("Time", Unit::si("s"));
    let queue = Axis::new("Queue at S2–A3", Unit::si("B"));
    let mut plot = Plot::new("queue", "Bottleneck queue around a link failure", time, queue)
        .vertical(0.05, "link S2–A4 fails")
        .vertical(0.08, "link is back");
    for (i, (name, _, limit)) in SCHEMES.into_iter().take(2).enumerate() {
        let walk = noise(i as u64 + 90).take(500).enumerate().scan(0.0_f64, |level, (i, u)| {
            let t = i as f64 * 2e-4;
            let drift = if (0.05..0.08).contains(&t) { 0.56 } else { 0.45 } - limit / 4000.0;
            *level = (*level + (u - 1.0 + drift) * 60_000.0).clamp(0.0, 480_000.0);
            Some((t, *level))
        });
        plot = plot.series(Series::step(name, walk));
    }
    Section::new("time", "Over time").block(plot)
}

fn fabric() -> Section {
    let tiers = ["Hosts", "ToR", "Aggregation", "Core"].map(String::from).to_vec();
    let mut nodes = Vec::new();
    let mut add = |prefix: &str, tier: usize, count: usize| {
        let first = nodes.len();
        let node = |i| Node { name: format!("{prefix}{}", i + 1), tier, x: None };
        nodes.extend((0..count).map(node));
        first
    };
    let (hosts, tors) = (add("h", 0, 32), add("T", 1, 4));
    let (aggs, cores) = (add("A", 2, 4), add("S", 3, 2));
    let link = |a, b, rate: &str| Link { a, b, name: String::new(), rate: rate.into() };
    let mut links: Vec<Link> = (0..32).map(|h| link(hosts + h, tors + h / 8, "10 Gbps")).collect();
    for (tor, agg) in (0..4).flat_map(|t| [0, 1].map(|a| (t, t / 2 * 2 + a))) {
        links.push(link(tors + tor, aggs + agg, "40 Gbps"));
    }
    for (agg, core) in (0..4).flat_map(|a| [0, 1].map(|c| (a, c))) {
        links.push(link(aggs + agg, cores + core, "40 Gbps"));
    }
    let times: Vec<f64> = (0..100).map(|i| f64::from(i) * 1e-3).collect();
    let runs = [("TCP + ECMP", 1.0, 3), ("MPTCP + MP-HULA", 0.25, 4)]
        .map(|(name, skew, seed)| run(name, skew, seed, times.len(), links.len()))
        .to_vec();
    let map = FabricMap {
        id: "fabric".into(),
        title: "Link utilisation at 60 % load".into(),
        caption: "Traffic keeps to the right of each link. S2 loses one link at 50 ms.".into(),
        tiers,
        nodes,
        links,
        times,
        marks: Vec::new(),
        runs,
    };
    Section::new("map", "The fabric").block(map)
}

fn run(name: &str, skew: f64, seed: u64, frames: usize, links: usize) -> Run {
    let mut random = noise(seed);
    let mut draw = move || random.next().unwrap_or(0.5);
    let base: Vec<[f64; 2]> = (0..links).map(|_| [draw(), draw()]).collect();
    let load = |frame: usize, link: usize, base: f64, u: f64| {
        let down = link + 1 == links && frame >= frames / 2;
        let value = 0.55 + skew * (base - 0.5) + 0.2 * (u - 0.5);
        if down { f32::NAN } else { value.clamp(0.0, 1.0) as f32 }
    };
    let frames = (0..frames).map(|frame| {
        let lanes = base.iter().enumerate();
        lanes.map(|(link, b)| b.map(|b| load(frame, link, b, draw()))).collect()
    });
    Run { name: name.into(), frames: frames.collect() }
}

fn odds_and_ends() -> Section {
    let plain = |label: &str| Axis::new(label, Unit::None);
    let nothing = Plot::new("nothing", "A run that has not finished", load_axis(), plain("Share"))
        .series(Series::line("TCP + ECMP", [(f64::NAN, 1.0)]));
    let many = (0..10).fold(
        Plot::new("many", "Ten series & <odd> \"names\"", plain("x"), plain("y")),
        |plot, i| {
            let k = f64::from(i);
            let points = (0..12).map(|x| (f64::from(x), k + f64::from(x) * (10.0 - k) / 10.0));
            plot.series(Series::line(format!("Series <{i}>"), points))
        },
    );
    Section::new("odds", "Odds & ends").block(Block::pair(nothing, many))
}
