// Benchmark case (a) in ns-3: a k = 8 fat-tree under a random permutation of long TCP flows, with per-flow ECMP.
// README.md says what is measured and how.

#include "port-routing.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <sys/resource.h>

#include <array>
#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t K = 8;
constexpr uint32_t HALF = K / 2;
constexpr uint32_t SWITCHES_PER_TIER = K * HALF; // of edge and of aggregation switches alike
constexpr uint32_t HOSTS = SWITCHES_PER_TIER * HALF;
constexpr uint32_t CORES = HALF * HALF;

constexpr uint16_t SINK_PORT = 5001;
constexpr uint32_t SEGMENT_BYTES = 1460; // with 20 bytes of TCP and 20 of IP: 1500
constexpr uint32_t SOCKET_BUFFER_BYTES = 4'000'000;
constexpr double LATEST_START_SECONDS = 0.01;

// Addresses are those of Al-Fares et al. (SIGCOMM 2008): 10.pod.edge.(2 + host).
struct Location
{
    uint32_t pod;
    uint32_t edge;
    uint32_t host;

    static Location
    OfHost(uint32_t index)
    {
        return {index / HALF / HALF, index / HALF % HALF, index % HALF};
    }

    static Location
    Of(Ipv4Address address)
    {
        const uint32_t bits = address.Get();
        return {bits >> 16 & 0xff, bits >> 8 & 0xff, (bits & 0xff) - 2};
    }

    Ipv4Address
    Address() const
    {
        return Ipv4Address(10u << 24 | pod << 16 | edge << 8 | (2 + host));
    }
};

// MurmurHash3's finaliser.
uint32_t
Mix(uint32_t h)
{
    h ^= h >> 16;
    h *= 0x85ebca6b;
    h ^= h >> 13;
    h *= 0xc2b2ae35;
    return h ^ h >> 16;
}

// The TCP header starts with both ports, so four bytes do; parsing the whole header would only cost ns-3 time.
uint32_t
HashFiveTuple(const Ipv4Header& ip, const Packet& payload)
{
    std::array<uint8_t, 4> p{};
    payload.CopyData(p.data(), p.size());
    const uint32_t ports = uint32_t(p[0]) << 24 | p[1] << 16 | p[2] << 8 | p[3];
    uint32_t h = Mix(ip.GetSource().Get());
    h = Mix(h ^ ip.GetDestination().Get());
    h = Mix(h ^ ports);
    return Mix(h ^ ip.GetProtocol());
}

// What a node is, and so where its ports lead. Down ports come first, in the order of what is below.
enum class Tier
{
    Host,
    Edge,
    Aggregation,
    Core
};

struct Site
{
    Tier tier;
    uint32_t pod;  // hosts, edge and aggregation switches
    uint32_t edge; // hosts and edge switches
};

// Up/down routing by the destination's place in the tree; on the way up, a port by the hash of the 5-tuple.
class FatTreeRouting : public PortRouting
{
  public:
    FatTreeRouting(Site site, uint32_t salt)
        : PortRouting(site.tier == Tier::Host),
          m_site(site),
          m_salt(salt)
    {
    }

  private:
    uint32_t
    NextPort(const Ipv4Header& header, const Packet& payload) const override
    {
        const auto to = Location::Of(header.GetDestination());
        if (m_site.tier == Tier::Core)
        {
            return to.pod;
        }
        const bool below = to.pod == m_site.pod;
        if (m_site.tier == Tier::Aggregation && below)
        {
            return to.edge;
        }
        if (m_site.tier == Tier::Edge && below && to.edge == m_site.edge)
        {
            return to.host;
        }
        return HALF + Mix(HashFiveTuple(header, payload) ^ m_salt) % HALF;
    }

    Site m_site;
    uint32_t m_salt;
};

// The nodes, and every device of every link (one at each end).
struct FatTree
{
    NodeContainer hosts;
    NodeContainer edges;
    NodeContainer aggregations;
    NodeContainer cores;
    NetDeviceContainer devices;
};

void
Connect(FatTree& tree, const NodeContainer& upper, uint32_t u, const NodeContainer& lower, uint32_t l)
{
    static PointToPointHelper link = [] {
        PointToPointHelper helper;
        helper.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
        helper.SetChannelAttribute("Delay", StringValue("100us"));
        helper.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("100p"));
        // Otherwise a full queue is stopped, and packets are dropped above the device, where no queue counts them.
        helper.DisableFlowControl();
        return helper;
    }();
    tree.devices.Add(link.Install(upper.Get(u), lower.Get(l)));
}

// Links are added tier by tier from below, in order, so that a port's number says where it leads.
void
ConnectAll(FatTree& tree)
{
    for (uint32_t h = 0; h < HOSTS; ++h)
    {
        Connect(tree, tree.edges, h / HALF, tree.hosts, h);
    }
    for (uint32_t e = 0; e < SWITCHES_PER_TIER; ++e)
    {
        for (uint32_t a = 0; a < HALF; ++a)
        {
            Connect(tree, tree.aggregations, e / HALF * HALF + a, tree.edges, e);
        }
    }
    for (uint32_t a = 0; a < SWITCHES_PER_TIER; ++a)
    {
        for (uint32_t c = 0; c < HALF; ++c)
        {
            Connect(tree, tree.cores, a % HALF * HALF + c, tree.aggregations, a);
        }
    }
}

void
InstallRouting(Ptr<Node> node, Site site, Ipv4Address address)
{
    static auto salts = CreateObject<UniformRandomVariable>();
    auto routing = CreateObject<FatTreeRouting>(site, salts->GetInteger(0, UINT32_MAX));
    auto ipv4 = node->GetObject<Ipv4>();
    for (uint32_t d = 0; d < node->GetNDevices(); ++d)
    {
        auto device = DynamicCast<PointToPointNetDevice>(node->GetDevice(d));
        if (device)
        {
            ipv4->SetUp(ipv4->AddInterface(device));
            routing->AddPort(device, address);
        }
    }
    ipv4->SetRoutingProtocol(routing);
}

void
InstallHosts(const NodeContainer& hosts)
{
    for (uint32_t h = 0; h < HOSTS; ++h)
    {
        const auto at = Location::OfHost(h);
        InstallRouting(hosts.Get(h), {Tier::Host, at.pod, at.edge}, at.Address());
        hosts.Get(h)->GetObject<Ipv4>()->AddAddress(1, {at.Address(), Ipv4Mask("/24")});
    }
}

void
InstallSwitches(const FatTree& tree)
{
    for (uint32_t s = 0; s < SWITCHES_PER_TIER; ++s)
    {
        InstallRouting(tree.edges.Get(s), {Tier::Edge, s / HALF, s % HALF}, Ipv4Address::GetAny());
        InstallRouting(tree.aggregations.Get(s), {Tier::Aggregation, s / HALF, 0}, Ipv4Address::GetAny());
    }
    for (uint32_t c = 0; c < CORES; ++c)
    {
        InstallRouting(tree.cores.Get(c), {Tier::Core, 0, 0}, Ipv4Address::GetAny());
    }
}

FatTree
BuildFatTree()
{
    FatTree tree;
    tree.hosts.Create(HOSTS);
    tree.edges.Create(SWITCHES_PER_TIER);
    tree.aggregations.Create(SWITCHES_PER_TIER);
    tree.cores.Create(CORES);
    ConnectAll(tree);

    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.InstallAll();
    InstallHosts(tree.hosts);
    InstallSwitches(tree);
    return tree;
}

void
ConfigureTcp()
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT_BYTES));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(SOCKET_BUFFER_BYTES));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(SOCKET_BUFFER_BYTES));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(10)));
}

// Each host's receiver: a random permutation that leaves no host to itself.
std::vector<uint32_t>
DrawReceivers()
{
    auto random = CreateObject<UniformRandomVariable>();
    std::vector<uint32_t> to(HOSTS);
    bool fixedPoint = true;
    while (fixedPoint)
    {
        fixedPoint = false;
        for (uint32_t h = 0; h < HOSTS; ++h)
        {
            to[h] = h;
            std::swap(to[h], to[random->GetInteger(0, h)]);
        }
        for (uint32_t h = 0; h < HOSTS; ++h)
        {
            fixedPoint |= to[h] == h;
        }
    }
    return to;
}

ApplicationContainer
InstallSinks(const NodeContainer& hosts)
{
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), SINK_PORT));
    return sink.Install(hosts);
}

void
InstallSenders(const NodeContainer& hosts)
{
    const auto to = DrawReceivers();
    auto random = CreateObject<UniformRandomVariable>();
    for (uint32_t h = 0; h < HOSTS; ++h)
    {
        BulkSendHelper sender("ns3::TcpSocketFactory",
                              InetSocketAddress(Location::OfHost(to[h]).Address(), SINK_PORT));
        sender.SetAttribute("SendSize", UintegerValue(SEGMENT_BYTES));
        auto app = sender.Install(hosts.Get(h));
        app.Start(Seconds(random->GetValue(0, LATEST_START_SECONDS)));
    }
}

struct Totals
{
    uint64_t packetHops = 0;
    uint64_t drops = 0;
};

// A device puts every packet through its queue, and takes one out only to start sending it: so the queues' own
// counters, less what still waits, are the packet-hops, and counting costs the run nothing.
Totals
CountPackets(const NetDeviceContainer& devices)
{
    Totals totals;
    for (auto d = devices.Begin(); d != devices.End(); ++d)
    {
        auto queue = DynamicCast<PointToPointNetDevice>(*d)->GetQueue();
        totals.packetHops += queue->GetTotalReceivedPackets() - queue->GetNPackets();
        totals.drops += queue->GetTotalDroppedPackets();
    }
    return totals;
}

uint64_t
ReceivedBytes(const ApplicationContainer& sinks)
{
    uint64_t bytes = 0;
    for (auto s = sinks.Begin(); s != sinks.End(); ++s)
    {
        bytes += DynamicCast<PacketSink>(*s)->GetTotalRx();
    }
    return bytes;
}

rusage
Usage()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage;
}

// User and system time of the process so far.
double
CpuSeconds()
{
    const auto usage = Usage();
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

void
PrintJson(const Totals& totals, double cpuSeconds, double simulatedSeconds, uint64_t receivedBytes)
{
    std::cout << std::fixed << "{\"case\":\"a\",\"simulator\":\"ns-3\",\"version\":\"" << NS3_BUILD << "\""
              << ",\"packet_hops\":" << totals.packetHops << ",\"events\":" << Simulator::GetEventCount()
              << ",\"cpu_seconds\":" << cpuSeconds << ",\"total_cpu_seconds\":" << CpuSeconds()
              << ",\"packet_hops_per_cpu_second\":" << uint64_t(totals.packetHops / cpuSeconds)
              << ",\"peak_memory_bytes\":" << uint64_t(Usage().ru_maxrss) * 1024
              << ",\"simulated_seconds\":" << simulatedSeconds
              << ",\"goodput_mbps\":" << receivedBytes * 8 / simulatedSeconds / 1e6
              << ",\"drops\":" << totals.drops << "}" << std::endl;
}

} // namespace

int
main(int argc, char* argv[])
{
    double seconds = 1.0;
    uint32_t seed = 1;
    std::string scheduler = "ns3::PriorityQueueScheduler";
    CommandLine options(__FILE__);
    options.AddValue("seconds", "simulated time", seconds);
    options.AddValue("seed", "seed of the permutation, the starts and the hash salts", seed);
    options.AddValue("scheduler", "ns-3's event queue", scheduler);
    options.Parse(argc, argv);

    RngSeedManager::SetSeed(seed);
    Simulator::SetScheduler(ObjectFactory(scheduler));
    ConfigureTcp();
    const auto tree = BuildFatTree();
    const auto sinks = InstallSinks(tree.hosts);
    InstallSenders(tree.hosts);

    Simulator::Stop(Seconds(seconds));
    const double before = CpuSeconds();
    Simulator::Run();
    const double cpuSeconds = CpuSeconds() - before;
    PrintJson(CountPackets(tree.devices), cpuSeconds, seconds, ReceivedBytes(sinks));
    Simulator::Destroy();
}
