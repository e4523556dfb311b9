// Replays a list of flows over given paths in ns-3, for comparison with Heddle flow by flow.
// README.md says what is set alike; replay.py writes the input and reads the output.

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
constexpr uint32_t PPP_BYTES = 2;
constexpr uint32_t ETHERNET_BYTES = 18;
constexpr uint32_t SMALLEST_FRAME = 64;
constexpr uint32_t IP_HEADER_BYTES = 20;
constexpr uint32_t LARGEST_CONTROL_FRAME = 120; // with three SACK blocks and no data

struct Options
{
    std::string input;
    std::string output;
    std::string control = "newreno";
    std::string recovery = "rfc6675";
    bool lossHalves = true;
    uint64_t portBytes = 375'000;
    uint64_t hostBytes = 10'000'000;
    uint64_t markAbove = 97'500;
    uint64_t minRtoMicros = 10'000;
    uint64_t pppOnly = 0;
    int64_t trace = -1;
};

struct Counts
{
    uint64_t drops = 0;
    uint64_t marks = 0;
};

Counts g_counts;

// A drop-tail queue whose limits include the rest of the packet in transmission. Packets are padded to their size in
// Ethernet frames; IPv4 removes the padding. Hosts send packets without data first.
class WireQueue : public Queue<Packet>
{
  public:
    WireQueue(DataRate rate, uint64_t limit, uint64_t markAbove, bool controlFirst, bool isPadded)
        : m_rate(rate),
          m_limit(limit),
          m_markAbove(markAbove),
          m_controlFirst(controlFirst),
          m_isPadded(isPadded)
    {
        SetMaxSize(QueueSize("100000000p"));
    }

    bool
    Enqueue(Ptr<Packet> packet) override
    {
        const bool isControl = packet->GetSize() <= LARGEST_CONTROL_FRAME && IsControl(*packet);
        Pad(*packet);
        const uint64_t backlog = GetNBytes() + InTransmission();
        const bool isUnlimited = m_controlFirst && isControl;
        if (!isUnlimited && backlog + packet->GetSize() > m_limit)
        {
            ++g_counts.drops;
            DropBeforeEnqueue(packet);
            return false;
        }
        if (!isControl && backlog > m_markAbove)
        {
            Mark(packet);
        }
        auto at = GetContainer().end();
        if (m_controlFirst && isControl)
        {
            at = std::next(GetContainer().begin(), m_controls++);
        }
        return DoEnqueue(at, packet);
    }

    Ptr<Packet>
    Dequeue() override
    {
        auto packet = DoDequeue(GetContainer().begin());
        if (packet)
        {
            m_controls -= m_controls > 0 ? 1 : 0;
            m_busyUntil = Simulator::Now() + m_rate.CalculateBytesTxTime(packet->GetSize());
        }
        return packet;
    }

    Ptr<Packet>
    Remove() override
    {
        return Dequeue();
    }

    Ptr<const Packet>
    Peek() const override
    {
        return DoPeek(GetContainer().begin());
    }

  private:
    // True for SYNs and acknowledgements: IPv4 and TCP headers are the whole packet.
    static bool
    IsControl(const Packet& packet)
    {
        uint8_t bytes[PPP_BYTES + IP_HEADER_BYTES + 13];
        packet.CopyData(bytes, sizeof bytes);
        const uint32_t total = bytes[PPP_BYTES + 2] << 8 | bytes[PPP_BYTES + 3];
        const uint32_t tcp = (bytes[PPP_BYTES + IP_HEADER_BYTES + 12] >> 4) * 4;
        return total == IP_HEADER_BYTES + tcp;
    }

    void
    Pad(Packet& packet) const
    {
        if (m_isPadded)
        {
            const auto frame = std::max(packet.GetSize() - PPP_BYTES + ETHERNET_BYTES, SMALLEST_FRAME);
            packet.AddPaddingAtEnd(frame - packet.GetSize());
        }
    }

    uint64_t
    InTransmission() const
    {
        const auto rest = m_busyUntil - Simulator::Now();
        return rest.IsStrictlyPositive() ? uint64_t(rest.GetSeconds() * m_rate.GetBitRate() / 8) : 0;
    }

    // Sets CE if the packet is ECN-capable.
    static void
    Mark(const Ptr<Packet>& packet)
    {
        PppHeader ppp;
        Ipv4Header ip;
        packet->RemoveHeader(ppp);
        packet->RemoveHeader(ip);
        if (ip.GetEcn() != Ipv4Header::ECN_NotECT)
        {
            ip.SetEcn(Ipv4Header::ECN_CE);
            ++g_counts.marks;
        }
        packet->AddHeader(ip);
        packet->AddHeader(ppp);
    }

    DataRate m_rate;
    uint64_t m_limit;
    uint64_t m_markAbove;
    bool m_controlFirst;
    bool m_isPadded;
    size_t m_controls = 0; // packets without data at the front of the queue of a host
    Time m_busyUntil;
};

// RFC 6675: in recovery the window is the threshold, and SACK's estimate of what is in flight does the rest.
class Rfc6675Recovery : public TcpRecoveryOps
{
  public:
    std::string
    GetName() const override
    {
        return "Rfc6675Recovery";
    }

    void
    EnterRecovery(Ptr<TcpSocketState> tcb, uint32_t, uint32_t, uint32_t) override
    {
        tcb->m_cWnd = tcb->m_ssThresh;
        tcb->m_cWndInfl = tcb->m_ssThresh;
    }

    void
    DoRecovery(Ptr<TcpSocketState> tcb, uint32_t) override
    {
        tcb->m_cWndInfl = tcb->m_cWnd;
    }

    void
    ExitRecovery(Ptr<TcpSocketState> tcb) override
    {
        tcb->m_cWnd = tcb->m_ssThresh;
        tcb->m_cWndInfl = tcb->m_ssThresh;
    }

    Ptr<TcpRecoveryOps>
    Fork() override
    {
        return CreateObject<Rfc6675Recovery>();
    }

    static TypeId
    GetTypeId()
    {
        static TypeId id = TypeId("ns3::Rfc6675Recovery").SetParent<TcpRecoveryOps>().AddConstructor<Rfc6675Recovery>();
        return id;
    }
};

// DCTCP that halves its window for a loss (RFC 8257 section 3.5). ns-3's reduces it as for marks.
class LossHalvingDctcp : public TcpDctcp
{
  public:
    uint32_t
    GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytesInFlight) override
    {
        const bool isMark =
            tcb->m_ecnState == TcpSocketState::ECN_ECE_RCVD && tcb->m_congState != TcpSocketState::CA_RECOVERY;
        return isMark ? TcpDctcp::GetSsThresh(tcb, bytesInFlight) : std::max(2 * tcb->m_segmentSize, bytesInFlight / 2);
    }

    Ptr<TcpCongestionOps>
    Fork() override
    {
        return CopyObject<LossHalvingDctcp>(this);
    }

    static TypeId
    GetTypeId()
    {
        static TypeId id = TypeId("ns3::LossHalvingDctcp").SetParent<TcpDctcp>().AddConstructor<LossHalvingDctcp>();
        return id;
    }
};

NS_OBJECT_ENSURE_REGISTERED(Rfc6675Recovery);
NS_OBJECT_ENSURE_REGISTERED(LossHalvingDctcp);

// Forwards by the paths of the list: a flow and a direction have one port at each switch.
class PathRouting : public Ipv4RoutingProtocol
{
  public:
    explicit PathRouting(bool isHost)
        : m_isHost(isHost)
    {
    }

    void
    AddPort(const Ptr<NetDevice>& device, Ipv4Address source)
    {
        auto route = Create<Ipv4Route>();
        route->SetSource(source);
        route->SetGateway(Ipv4Address::GetAny());
        route->SetOutputDevice(device);
        m_routes.push_back(route);
    }

    void
    SetHop(uint32_t flow, bool isBack, uint32_t port)
    {
        m_hops[2 * flow + isBack] = port;
    }

    Ptr<Ipv4Route>
    RouteOutput(Ptr<Packet>, const Ipv4Header&, Ptr<NetDevice>, Socket::SocketErrno& error) override
    {
        error = Socket::ERROR_NOTERROR;
        return m_routes.front();
    }

    bool
    RouteInput(Ptr<const Packet> packet,
               const Ipv4Header& header,
               Ptr<const NetDevice> device,
               UnicastForwardCallback forward,
               MulticastForwardCallback,
               LocalDeliverCallback deliver,
               ErrorCallback) override
    {
        if (m_isHost)
        {
            deliver(packet, header, m_ipv4->GetInterfaceForDevice(device));
            return true;
        }
        uint8_t p[4];
        packet->CopyData(p, sizeof p);
        const uint32_t from = p[0] << 8 | p[1];
        const uint32_t to = p[2] << 8 | p[3];
        const bool isBack = from == SERVER_PORT;
        forward(m_routes[m_hops.at(2 * ((isBack ? to : from) - FIRST_CLIENT_PORT) + isBack)], packet, header);
        return true;
    }

    void
    SetIpv4(Ptr<Ipv4> ipv4) override
    {
        m_ipv4 = ipv4;
    }

    void NotifyInterfaceUp(uint32_t) override {}
    void NotifyInterfaceDown(uint32_t) override {}
    void NotifyAddAddress(uint32_t, Ipv4InterfaceAddress) override {}
    void NotifyRemoveAddress(uint32_t, Ipv4InterfaceAddress) override {}
    void PrintRoutingTable(Ptr<OutputStreamWrapper>, Time::Unit) const override {}

  private:
    bool m_isHost;
    Ptr<Ipv4> m_ipv4;
    std::vector<Ptr<Ipv4Route>> m_routes; // one for each port
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

    static Ipv4Address
    AddressOf(uint32_t host)
    {
        return Ipv4Address((10u << 24) + host + 1);
    }

    void Read();
    void Create(uint32_t count);
    void Link(uint32_t a, uint32_t b, uint64_t bitsPerSecond, uint64_t delayNanos);
    void AddFlow(std::istringstream& line);
    void SetPath(const std::string& path, uint32_t flow, bool isBack);
    void Listen();
    void Open(uint32_t flow);
    void Write(uint32_t flow, const Ptr<Socket>& socket);
    void Receive(uint32_t flow, const Ptr<Socket>& socket);
    void Trace(const Ptr<Socket>& socket);
};

// Lines: `nodes COUNT HOSTS`, `link A B BITS_PER_SECOND DELAY_NS`, `flow START_NS FROM TO BYTES PATH PATH_BACK`.
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
Replay::Link(uint32_t a, uint32_t b, uint64_t bitsPerSecond, uint64_t delayNanos)
{
    PointToPointHelper helper;
    helper.SetDeviceAttribute("DataRate", DataRateValue(DataRate(bitsPerSecond)));
    helper.SetChannelAttribute("Delay", TimeValue(NanoSeconds(delayNanos)));
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
                                                 options.pppOnly == 0));
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
    auto socket = Socket::CreateSocket(nodes.Get(flow.from), TcpSocketFactory::GetTypeId());
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
Replay::Trace(const Ptr<Socket>& socket)
{
    std::cout << std::setprecision(9);
    socket->TraceConnectWithoutContext("CongestionWindow", MakeBoundCallback(&TraceValue, std::string("cwnd")));
    socket->TraceConnectWithoutContext("SlowStartThreshold", MakeBoundCallback(&TraceValue, std::string("ssthresh")));
    socket->TraceConnectWithoutContext("BytesInFlight", MakeBoundCallback(&TraceValue, std::string("in_flight")));
    socket->TraceConnectWithoutContext("CongState", MakeCallback(&TraceState));
}

void
ConfigureTcp(const Options& options)
{
    const bool isDctcp = options.control == "dctcp";
    const auto control = !isDctcp             ? TcpNewReno::GetTypeId()
                         : options.lossHalves ? LossHalvingDctcp::GetTypeId()
                                              : TcpDctcp::GetTypeId();
    const auto recovery = options.recovery == "prr"       ? TcpPrrRecovery::GetTypeId()
                          : options.recovery == "classic" ? TcpClassicRecovery::GetTypeId()
                                                          : Rfc6675Recovery::GetTypeId();
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(control));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(recovery));
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
    arguments.AddValue("recovery", "rfc6675, prr (ns-3's default) or classic", options.recovery);
    arguments.AddValue("loss-halves", "DCTCP halves its window for a loss", options.lossHalves);
    arguments.AddValue("mark-above", "bytes above which data is marked", options.markAbove);
    arguments.AddValue("min-rto", "least timeout and that of SYNs, in us", options.minRtoMicros);
    arguments.AddValue("ppp-only", "1: frames of ns-3's own size, not Ethernet's", options.pppOnly);
    arguments.AddValue("trace", "a flow whose window is printed", options.trace);
    arguments.Parse(argc, argv);

    Time::SetResolution(Time::PS);
    ConfigureTcp(options);
    replay.Read();
    replay.Listen();
    replay.unfinished = replay.flows.size();
    for (uint32_t f = 0; f < replay.flows.size(); ++f)
    {
        Simulator::Schedule(NanoSeconds(replay.flows[f].startNanos), &Replay::Open, &replay, f);
    }
    Simulator::Stop(Seconds(100));
    Simulator::Run();

    std::ofstream out(options.output);
    out << std::fixed << std::setprecision(9) << "flow,fct_s\n";
    for (size_t f = 0; f < replay.flows.size(); ++f)
    {
        out << f << "," << replay.flows[f].seconds << "\n";
    }
    std::cerr << "{\"drops\":" << g_counts.drops << ",\"marks\":" << g_counts.marks
              << ",\"unfinished\":" << replay.unfinished << "}" << std::endl;
    return replay.unfinished == 0 && out ? 0 : 1;
}
