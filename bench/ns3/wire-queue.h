// Queues that count a packet as Heddle does: by its size in Ethernet frames.

#pragma once

#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <unordered_map>

constexpr uint32_t PPP_BYTES = 2;
constexpr uint32_t ETHERNET_BYTES = 18;
constexpr uint32_t SMALLEST_FRAME = 64;
constexpr uint32_t IP_HEADER_BYTES = 20;
constexpr uint32_t LARGEST_CONTROL_FRAME = 120; // with three SACK blocks and no data

struct QueueCounts
{
    uint64_t drops = 0;
    uint64_t marks = 0;
};

// The SACKs of acknowledgements, by the packets' numbers: as in Heddle they have three blocks and no bytes on the wire.
class SacksAside
{
  public:
    void
    Take(ns3::Packet& packet)
    {
        ns3::PppHeader ppp;
        ns3::Ipv4Header ip;
        ns3::TcpHeader tcp;
        packet.RemoveHeader(ppp);
        packet.RemoveHeader(ip);
        packet.RemoveHeader(tcp);
        const auto option = ns3::DynamicCast<const ns3::TcpOptionSack>(tcp.GetOption(ns3::TcpOption::SACK));
        if (option)
        {
            auto blocks = option->GetSackList();
            blocks.resize(std::min<size_t>(blocks.size(), 3));
            m_blocks[packet.GetUid()] = blocks;
            tcp = WithoutOptions(tcp);
            ip.SetPayloadSize(tcp.GetSerializedSize());
        }
        packet.AddHeader(tcp);
        packet.AddHeader(ip);
        packet.AddHeader(ppp);
    }

    // The header with the blocks that were taken from it.
    ns3::TcpHeader
    Give(const ns3::Packet& packet, const ns3::TcpHeader& header)
    {
        ns3::TcpHeader result = header;
        const auto blocks = m_blocks.extract(packet.GetUid());
        if (!blocks.empty())
        {
            auto option = ns3::CreateObject<ns3::TcpOptionSack>();
            for (const auto& block : blocks.mapped())
            {
                option->AddSackBlock(block);
            }
            result.AppendOption(option);
        }
        return result;
    }

  private:
    static ns3::TcpHeader
    WithoutOptions(const ns3::TcpHeader& header)
    {
        ns3::TcpHeader result;
        result.SetFlags(header.GetFlags());
        result.SetSequenceNumber(header.GetSequenceNumber());
        result.SetAckNumber(header.GetAckNumber());
        result.SetWindowSize(header.GetWindowSize());
        result.SetSourcePort(header.GetSourcePort());
        result.SetDestinationPort(header.GetDestinationPort());
        return result;
    }

    std::unordered_map<uint64_t, ns3::TcpOptionSack::SackList> m_blocks;
};

// A drop-tail queue whose limits include the rest of the packet in transmission. Packets are padded to their size in
// Ethernet frames; IPv4 removes the padding. Hosts send packets without data first.
class WireQueue : public ns3::Queue<ns3::Packet>
{
  public:
    WireQueue(ns3::DataRate rate, uint64_t limit, uint64_t markAbove, bool controlFirst, QueueCounts& counts, SacksAside* sacks)
        : m_rate(rate),
          m_limit(limit),
          m_markAbove(markAbove),
          m_controlFirst(controlFirst),
          m_counts(counts),
          m_sacks(sacks)
    {
        SetMaxSize(ns3::QueueSize("100000000p"));
    }

    bool
    Enqueue(ns3::Ptr<ns3::Packet> packet) override
    {
        const bool isControl = packet->GetSize() <= LARGEST_CONTROL_FRAME && IsControl(*packet);
        if (m_sacks && m_controlFirst && isControl)
        {
            m_sacks->Take(*packet);
        }
        Pad(*packet, m_sacks && isControl);
        const uint64_t backlog = GetNBytes() + InTransmission();
        const bool isUnlimited = m_controlFirst && isControl;
        if (!isUnlimited && backlog + packet->GetSize() > m_limit)
        {
            ++m_counts.drops;
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

    ns3::Ptr<ns3::Packet>
    Dequeue() override
    {
        auto packet = DoDequeue(GetContainer().begin());
        if (packet)
        {
            m_controls -= m_controls > 0 ? 1 : 0;
            m_busyUntil = ns3::Simulator::Now() + m_rate.CalculateBytesTxTime(packet->GetSize());
        }
        return packet;
    }

    ns3::Ptr<ns3::Packet>
    Remove() override
    {
        return Dequeue();
    }

    ns3::Ptr<const ns3::Packet>
    Peek() const override
    {
        return DoPeek(GetContainer().begin());
    }

  private:
    // True for SYNs and acknowledgements: IPv4 and TCP headers are the whole packet.
    static bool
    IsControl(const ns3::Packet& packet)
    {
        uint8_t bytes[PPP_BYTES + IP_HEADER_BYTES + 13];
        packet.CopyData(bytes, sizeof bytes);
        const uint32_t total = bytes[PPP_BYTES + 2] << 8 | bytes[PPP_BYTES + 3];
        const uint32_t tcp = (bytes[PPP_BYTES + IP_HEADER_BYTES + 12] >> 4) * 4;
        return total == IP_HEADER_BYTES + tcp;
    }

    // To the frame's size; without the bytes of its options if it has no data.
    static void
    Pad(ns3::Packet& packet, bool isBare)
    {
        const uint32_t bytes = isBare ? 0 : packet.GetSize() - PPP_BYTES + ETHERNET_BYTES;
        packet.AddPaddingAtEnd(std::max(bytes, SMALLEST_FRAME) - packet.GetSize());
    }

    // Bytes, rounded up.
    uint64_t
    InTransmission() const
    {
        const int64_t rest = (m_busyUntil - ns3::Simulator::Now()).GetPicoSeconds();
        const int64_t bitsPerMicrosecond = m_rate.GetBitRate() / 1'000'000;
        return rest > 0 ? (rest * bitsPerMicrosecond + 7'999'999) / 8'000'000 : 0;
    }

    // Sets CE if the packet is ECN-capable.
    void
    Mark(const ns3::Ptr<ns3::Packet>& packet)
    {
        ns3::PppHeader ppp;
        ns3::Ipv4Header ip;
        packet->RemoveHeader(ppp);
        packet->RemoveHeader(ip);
        if (ip.GetEcn() != ns3::Ipv4Header::ECN_NotECT)
        {
            ip.SetEcn(ns3::Ipv4Header::ECN_CE);
            ++m_counts.marks;
        }
        packet->AddHeader(ip);
        packet->AddHeader(ppp);
    }

    ns3::DataRate m_rate;
    uint64_t m_limit;
    uint64_t m_markAbove;
    bool m_controlFirst;
    QueueCounts& m_counts;
    SacksAside* m_sacks; // none: they stay in the packets
    size_t m_controls = 0; // packets without data at the front of the queue of a host
    ns3::Time m_busyUntil;
};

