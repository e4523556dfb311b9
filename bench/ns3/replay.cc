// Replays a list of flows over given paths in ns-3, for comparison with Heddle flow by flow.
// README.md says what is set alike; replay.py writes the input and reads the output.

#include "port-routing.h"
#include "rfc-sender.h"
#include "wire-queue.h"

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint16_t SERVER_PORT = 1000;
constexpr uint16_t FIRST_CLIENT_PORT = 1024; // a flow's number is its client's port less this
constexpr uint32_t SEGMENT_BYTES = 1460;
// By the send buffer: ns-3 3.37 crashes (it sends a segment of no bytes) if SACKs come while the receive window is full.
constexpr uint32_t WINDOW_BYTES = 400'000;

struct Options
{
    std::string input;
    std::string output;
    std::string control = "newreno";
    std::string rules;
    uint64_t portBytes = 375'000;
    uint64_t hostBytes = 10'000'000;
    uint64_t markAbove = 97'500;
    uint64_t minRtoMicros = 10'000;
    int64_t trace = -1;
};

// Forwards by the paths of the list: a flow and a direction have one port at each switch.
class PathRouting : public PortRouting
{
  public:
    using PortRouting::PortRouting;

    void
    SetHop(uint32_t flow, bool isBack, uint32_t port)
    {
        m_hops[2 * flow + isBack] = port;
    }

  private:
    uint32_t
    NextPort(const Ipv4Header&, const Packet& payload) const override
    {
        uint8_t p[4];
        payload.CopyData(p, sizeof p);
        const uint32_t from = p[0] << 8 | p[1];
        const uint32_t to = p[2] << 8 | p[3];
        const bool isBack = from == SERVER_PORT;
        return m_hops.at(2 * ((isBack ? to : from) - FIRST_CLIENT_PORT) + isBack);
    }

    std::unordered_map<uint32_t, uint32_t> m_hops;
};

struct Flow
{
    int64_t startNanos;
    uint32_t from;
    uint32_t to;
    uint64_t bytes;
    uint64_t written = 0;
    uint64_t received = 0;
    double seconds = -1;
};

struct Replay
{
    Options options;
    NodeContainer nodes;
    uint32_t hosts = 0;
    std::vector<Ptr<PathRouting>> routing;
    std::vector<std::unordered_map<uint32_t, uint32_t>> portTo; // of each node: neighbour to port
    std::vector<Flow> flows;
    size_t unfinished = 0;
    QueueCounts counts;
    SacksAside sacks;
    std::vector<Ptr<SenderByRules>> senders; // one for each flow

    static Ipv4Address
    AddressOf(uint32_t host)
    {
        return Ipv4Address((10u << 24) + host + 1);
    }

    void Read();
    void Create(uint32_t count);
    void Link(uint32_t a, uint32_t b, uint64_t bitsPerSecond, uint64_t delayPicos);
    void AddFlow(std::istringstream& line);
    void SetPath(const std::string& path, uint32_t flow, bool isBack);
    void Listen();
    void Open(uint32_t flow);
    void Write(uint32_t flow, const Ptr<Socket>& socket);
    void Receive(uint32_t flow, const Ptr<Socket>& socket);
    void Trace(const Ptr<Socket>& socket);
};

// Lines: `nodes COUNT HOSTS`, `link A B BITS_PER_SECOND DELAY_PS`, `flow START_NS FROM TO BYTES PATH PATH_BACK`.
void
Replay::Read()
{
    std::ifstream file(options.input);
    std::string text;
    while (std::getline(file, text))
    {
        std::istringstream line(text);
        std::string kind;
        line >> kind;
        if (kind == "nodes")
        {
            uint32_t count;
            line >> count >> hosts;
            Create(count);
        }
        else if (kind == "link")
        {
            uint32_t a;
            uint32_t b;
            uint64_t rate;
            uint64_t delay;
            line >> a >> b >> rate >> delay;
            Link(a, b, rate, delay);
        }
        else if (kind == "flow")
        {
            AddFlow(line);
        }
        NS_ABORT_MSG_IF(line.fail(), "bad line: " << text);
    }
    NS_ABORT_MSG_IF(flows.empty(), "no flows in " << options.input);
}

void
Replay::Create(uint32_t count)
{
    nodes.Create(count);
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.InstallAll();
    portTo.resize(count);
    for (uint32_t n = 0; n < count; ++n)
    {
        auto protocol = CreateObject<PathRouting>(n < hosts);
        nodes.Get(n)->GetObject<Ipv4>()->SetRoutingProtocol(protocol);
        routing.push_back(protocol);
    }
}

void
Replay::Link(uint32_t a, uint32_t b, uint64_t bitsPerSecond, uint64_t delayPicos)
{
    PointToPointHelper helper;
    helper.SetDeviceAttribute("DataRate", DataRateValue(DataRate(bitsPerSecond)));
    helper.SetChannelAttribute("Delay", TimeValue(PicoSeconds(delayPicos)));
    helper.DisableFlowControl();
    const auto devices = helper.Install(nodes.Get(a), nodes.Get(b));
    const uint32_t ends[] = {a, b};
    for (int i = 0; i < 2; ++i)
    {
        const uint32_t node = ends[i];
        const bool isHost = node < hosts;
        auto device = DynamicCast<PointToPointNetDevice>(devices.Get(i));
        device->SetQueue(CreateObject<WireQueue>(DataRate(bitsPerSecond),
                                                 isHost ? options.hostBytes : options.portBytes,
                                                 options.control == "dctcp" ? options.markAbove : UINT64_MAX,
                                                 isHost,
                                                 counts,
                                                 TcpRules::Of(options.rules).options ? &sacks : nullptr));
        auto ipv4 = nodes.Get(node)->GetObject<Ipv4>();
        const auto interface = ipv4->AddInterface(device);
        if (isHost)
        {
            ipv4->AddAddress(interface, {AddressOf(node), Ipv4Mask("/32")});
        }
        ipv4->SetUp(interface);
        portTo[node][ends[1 - i]] = portTo[node].size();
        routing[node]->AddPort(device, isHost ? AddressOf(node) : Ipv4Address::GetAny());
    }
}

void
Replay::AddFlow(std::istringstream& line)
{
    Flow flow{};
    flow.seconds = -1;
    std::string path;
    std::string back;
    line >> flow.startNanos >> flow.from >> flow.to >> flow.bytes >> path >> back;
    const uint32_t number = flows.size();
    flows.push_back(flow);
    SetPath(path, number, false);
    SetPath(back, number, true);
}

// `path` has the nodes with commas between them, both hosts included.
void
Replay::SetPath(const std::string& path, uint32_t flow, bool isBack)
{
    std::istringstream items(path);
    std::vector<uint32_t> hops;
    for (std::string item; std::getline(items, item, ',');)
    {
        hops.push_back(std::stoul(item));
    }
    for (size_t i = 1; i + 1 < hops.size(); ++i)
    {
        routing[hops[i]]->SetHop(flow, isBack, portTo[hops[i]].at(hops[i + 1]));
    }
}

void
Replay::Listen()
{
    for (uint32_t h = 0; h < hosts; ++h)
    {
        auto socket = Socket::CreateSocket(nodes.Get(h), TcpSocketFactory::GetTypeId());
        socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), SERVER_PORT));
        socket->Listen();
        socket->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                  [this](Ptr<Socket> accepted, const Address& peer) {
                                      const auto port = InetSocketAddress::ConvertFrom(peer).GetPort();
                                      const uint32_t flow = port - FIRST_CLIENT_PORT;
                                      accepted->SetRecvCallback(
                                          [this, flow](Ptr<Socket> socket) { Receive(flow, socket); });
                                  });
    }
}

void
Replay::Open(uint32_t number)
{
    const auto& flow = flows[number];
    const auto node = nodes.Get(flow.from);
    const auto rules = TcpRules::Of(options.rules);
    const auto socket = options.control == "dctcp" ? SenderByRules::Create<TcpDctcp>(node, rules, sacks)
                                                   : SenderByRules::Create<TcpNewReno>(node, rules, sacks);
    senders[number] = socket;
    socket->Bind(InetSocketAddress(AddressOf(flow.from), FIRST_CLIENT_PORT + number));
    socket->SetConnectCallback([this, number](Ptr<Socket> open) { Write(number, open); },
                               [number](Ptr<Socket>) { NS_ABORT_MSG("flow " << number << " did not open"); });
    socket->SetSendCallback([this, number](Ptr<Socket> open, uint32_t) { Write(number, open); });
    if (options.trace == int64_t(number))
    {
        Trace(socket);
    }
    socket->Connect(InetSocketAddress(AddressOf(flow.to), SERVER_PORT));
}

// A segment at a time, so that TCP's buffer need not split or merge.
void
Replay::Write(uint32_t number, const Ptr<Socket>& socket)
{
    auto& flow = flows[number];
    while (flow.written < flow.bytes)
    {
        const uint32_t bytes = std::min<uint64_t>(SEGMENT_BYTES, flow.bytes - flow.written);
        if (socket->GetTxAvailable() < bytes)
        {
            return;
        }
        flow.written += bytes;
        NS_ABORT_MSG_IF(socket->Send(ns3::Create<Packet>(bytes)) < 0, "flow " << number << " cannot send");
    }
}

void
Replay::Receive(uint32_t number, const Ptr<Socket>& socket)
{
    auto& flow = flows[number];
    while (auto packet = socket->Recv())
    {
        flow.received += packet->GetSize();
    }
    if (flow.received == flow.bytes && flow.seconds < 0)
    {
        flow.seconds = (Simulator::Now() - NanoSeconds(flow.startNanos)).GetSeconds();
        if (--unfinished == 0)
        {
            Simulator::Stop();
        }
    }
}

void
TraceValue(std::string name, uint32_t, uint32_t value)
{
    std::cout << Simulator::Now().GetSeconds() << "," << name << "," << value << "\n";
}

void
TraceState(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t state)
{
    std::cout << Simulator::Now().GetSeconds() << ",state," << TcpSocketState::TcpCongStateName[state] << "\n";
}

void
TraceSent(Ptr<const Packet>, const TcpHeader& header, Ptr<const TcpSocketBase>)
{
    std::cout << Simulator::Now().GetSeconds() << ",sent," << header.GetSequenceNumber() << "\n";
}

void
Replay::Trace(const Ptr<Socket>& socket)
{
    std::cout << std::setprecision(9);
    socket->TraceConnectWithoutContext("CongestionWindow", MakeBoundCallback(&TraceValue, std::string("cwnd")));
    socket->TraceConnectWithoutContext("SlowStartThreshold", MakeBoundCallback(&TraceValue, std::string("ssthresh")));
    socket->TraceConnectWithoutContext("BytesInFlight", MakeBoundCallback(&TraceValue, std::string("in_flight")));
    socket->TraceConnectWithoutContext("CongState", MakeCallback(&TraceState));
    socket->TraceConnectWithoutContext("Tx", MakeCallback(&TraceSent));
}

void
ConfigureTcp(const Options& options)
{
    const bool isDctcp = options.control == "dctcp";
    // Of the receivers.
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(isDctcp ? TcpDctcp::GetTypeId() : TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT_BYTES));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(WINDOW_BYTES));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(20 * WINDOW_BYTES));
    Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(MicroSeconds(options.minRtoMicros)));
    Config::SetDefault("ns3::TcpSocket::ConnCount", UintegerValue(1000));
    Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(1000));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MicroSeconds(options.minRtoMicros)));
    Config::SetDefault("ns3::RttEstimator::InitialEstimation", TimeValue(MicroSeconds(options.minRtoMicros)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MicroSeconds(1)));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn",
                       EnumValue(isDctcp ? TcpSocketState::On : TcpSocketState::Off));
}

} // namespace

int
main(int argc, char* argv[])
{
    Replay replay;
    auto& options = replay.options;
    CommandLine arguments(__FILE__);
    arguments.AddValue("input", "fabric, flows and paths", options.input);
    arguments.AddValue("output", "CSV of completion times", options.output);
    arguments.AddValue("control", "newreno or dctcp", options.control);
    arguments.AddValue("rules", "all, or some of flight, pipe, partial, timer, tail, marks, options and handshake", options.rules);
    arguments.AddValue("mark-above", "bytes above which data is marked", options.markAbove);
    arguments.AddValue("min-rto", "least timeout and that of SYNs, in us", options.minRtoMicros);
    arguments.AddValue("trace", "a flow whose window and segments are printed", options.trace);
    arguments.Parse(argc, argv);

    Time::SetResolution(Time::PS);
    ConfigureTcp(options);
    replay.Read();
    replay.Listen();
    replay.unfinished = replay.flows.size();
    replay.senders.resize(replay.flows.size());
    for (uint32_t f = 0; f < replay.flows.size(); ++f)
    {
        Simulator::Schedule(NanoSeconds(replay.flows[f].startNanos), &Replay::Open, &replay, f);
    }
    Simulator::Stop(Seconds(100));
    Simulator::Run();

    std::ofstream out(options.output);
    out << std::fixed << std::setprecision(9) << "flow,fct_s,timeouts,retransmissions\n";
    for (size_t f = 0; f < replay.flows.size(); ++f)
    {
        const auto& sender = *replay.senders[f];
        out << f << "," << replay.flows[f].seconds << "," << sender.timeouts << "," << sender.retransmissions << "\n";
    }
    std::cerr << "{\"drops\":" << replay.counts.drops << ",\"marks\":" << replay.counts.marks
              << ",\"unfinished\":" << replay.unfinished << "}" << std::endl;
    return replay.unfinished == 0 && out ? 0 : 1;
}
