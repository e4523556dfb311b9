// ns-3's TCP sender with the rules of rfc-window.h.

#pragma once

#include "rfc-window.h"
#include "wire-queue.h"

#include "ns3/core-module.h"
#include "ns3/internet-module.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>

class SenderByRules : public ns3::TcpSocketBase
{
  public:
    uint64_t timeouts = 0;
    uint64_t retransmissions = 0;

    template <typename Control>
    static ns3::Ptr<SenderByRules>
    Create(const ns3::Ptr<ns3::Node>& node, TcpRules rules, SacksAside& sacks)
    {
        auto window = std::make_shared<WindowByRfc>();
        auto control = ns3::CreateObject<ByRules<Control>>();
        auto recovery = ns3::CreateObject<Rfc6675Recovery>();
        control->Set(rules, window);
        recovery->Set(rules, window);
        auto socket = ns3::CreateObject<SenderByRules>();
        auto tcp = node->GetObject<ns3::TcpL4Protocol>();
        socket->m_rules = rules;
        socket->m_window = window;
        socket->m_sacksAside = &sacks;
        socket->SetNode(node);
        socket->SetTcp(tcp);
        socket->SetRtt(ns3::CreateObject<ns3::RttMeanDeviation>());
        socket->SetCongestionControlAlgorithm(control);
        socket->SetRecoveryAlgorithm(recovery);
        tcp->AddSocket(socket);
        return socket;
    }

  private:
    void
    ReceivedAck(ns3::Ptr<ns3::Packet> packet, const ns3::TcpHeader& received) override
    {
        const auto header = m_sacksAside->Give(*packet, received);
        if (header.HasOption(ns3::TcpOption::SACK))
        {
            const auto option = ns3::DynamicCast<const ns3::TcpOptionSack>(header.GetOption(ns3::TcpOption::SACK));
            for (const auto& block : option->GetSackList())
            {
                AddSack(block.first, block.second);
            }
        }
        Forget(header.GetAckNumber());
        const auto before = m_txBuffer->HeadSequence();
        const auto acknowledged = header.GetAckNumber();
        if (before < acknowledged)
        {
            const bool isMarked = header.GetFlags() & ns3::TcpHeader::ECE;
            m_window->Observe(acknowledged - before, acknowledged, m_tcb->m_highTxMark, isMarked);
        }
        TcpSocketBase::ReceivedAck(packet, header);
        if (m_rules.tail && m_tcb->m_congState == ns3::TcpSocketState::CA_RECOVERY)
        {
            Rescue();
        }
    }

    // What was repeated, until it is acknowledged: TcpTxBuffer counts it as in flight even if it has been SACKed.
    void
    Forget(ns3::SequenceNumber32 acknowledged)
    {
        while (!m_repeated.empty() && m_repeated.begin()->first < acknowledged)
        {
            m_sackedRepeats -= m_repeated.begin()->second.isSacked ? m_repeated.begin()->second.bytes : 0;
            m_repeated.erase(m_repeated.begin());
        }
    }

    void
    AddSack(ns3::SequenceNumber32 start, ns3::SequenceNumber32 end)
    {
        for (auto at = m_repeated.lower_bound(start); at != m_repeated.end() && at->first < end; ++at)
        {
            m_sackedRepeats += at->second.isSacked ? 0 : at->second.bytes;
            at->second.isSacked = true;
        }
        auto at = m_sacks.begin();
        while (at != m_sacks.end() && at->first <= end)
        {
            const bool isApart = at->second < start;
            start = isApart ? start : std::min(start, at->first);
            end = isApart ? end : std::max(end, at->second);
            at = isApart ? std::next(at) : m_sacks.erase(at);
        }
        m_sacks[start] = end;
        while (m_sacks.begin()->second <= m_txBuffer->HeadSequence() && m_sacks.size() > 1)
        {
            m_sacks.erase(m_sacks.begin());
        }
    }

    ns3::SequenceNumber32
    HighestSack() const
    {
        return m_sacks.empty() ? ns3::SequenceNumber32(0) : m_sacks.rbegin()->second;
    }

    // NextSeg's rule 4: if nothing else may be sent, the last segment without a SACK, once a recovery.
    void
    Rescue()
    {
        ns3::SequenceNumber32 next;
        ns3::SequenceNumber32 end;
        const bool hasWindow = TcpSocketBase::AvailableWindow() >= m_tcb->m_segmentSize;
        const bool isIdle = IsTailNext() || !m_txBuffer->NextSeg(&next, &end, true);
        if (!hasWindow || !isIdle || m_txBuffer->HeadSequence() <= m_rescue)
        {
            return;
        }
        m_rescue = m_recover;
        ns3::SequenceNumber32 last = m_tcb->m_highTxMark;
        for (auto range = m_sacks.rbegin(); range != m_sacks.rend() && range->second == last; ++range)
        {
            last = range->first;
        }
        if (m_txBuffer->HeadSequence() < last)
        {
            const uint32_t bytes = (last - ns3::SequenceNumber32(1) - 1) % m_tcb->m_segmentSize + 1;
            SendDataPacket(last - bytes, bytes, true);
        }
    }

    // True if what TcpSocketBase would send next lies above the highest SACK, and is not new.
    bool
    IsTailNext() const
    {
        ns3::SequenceNumber32 next;
        ns3::SequenceNumber32 end;
        const bool isNext = m_txBuffer->NextSeg(&next, &end, true);
        return isNext && HighestSack() <= next && next < m_tcb->m_highTxMark;
    }

    // A partial acknowledgement has TcpSocketBase retransmit at once; SendPendingData, next, is by the window.
    void
    ProcessAck(const ns3::SequenceNumber32& number,
               bool isScoreboardUpdated,
               uint32_t delivered,
               const ns3::SequenceNumber32& before) override
    {
        const bool isRecovering = m_tcb->m_congState == ns3::TcpSocketState::CA_RECOVERY;
        m_holdsBack = m_rules.partial && isRecovering && before < number && number < m_recover;
        TcpSocketBase::ProcessAck(number, isScoreboardUpdated, delivered, before);
        m_holdsBack = false;
        if (!isRecovering && m_tcb->m_congState == ns3::TcpSocketState::CA_RECOVERY)
        {
            m_rescue = m_txBuffer->HeadSequence() + m_tcb->m_segmentSize;
        }
    }

    uint32_t
    SendDataPacket(ns3::SequenceNumber32 seq, uint32_t maxSize, bool withAck) override
    {
        if (m_holdsBack)
        {
            m_holdsBack = false;
            return 0;
        }
        const bool isRepeat = seq < m_tcb->m_highTxMark;
        if (m_rules.timer && isRepeat && m_tcb->m_congState == ns3::TcpSocketState::CA_RECOVERY)
        {
            m_retxEvent.Cancel();
        }
        const uint32_t bytes = TcpSocketBase::SendDataPacket(seq, maxSize, withAck);
        if (isRepeat)
        {
            ++retransmissions;
            m_repeated.insert({seq, {bytes, false}});
        }
        return bytes;
    }

    uint32_t
    BytesInFlight() const override
    {
        const uint32_t bytes = TcpSocketBase::BytesInFlight();
        if (m_rules.pipe)
        {
            m_tcb->m_bytesInFlight = bytes - std::min(bytes, m_sackedRepeats);
        }
        return m_tcb->m_bytesInFlight;
    }

    // A sender acknowledges SYN/ACKs alone.
    void
    SendEmptyPacket(uint8_t flags) override
    {
        if (!m_rules.handshake || flags != ns3::TcpHeader::ACK)
        {
            TcpSocketBase::SendEmptyPacket(flags);
        }
    }

    void
    NewAck(const ns3::SequenceNumber32& number, bool restartsTimer) override
    {
        TcpSocketBase::NewAck(number, restartsTimer || m_rules.timer);
    }

    uint32_t
    AvailableWindow() const override
    {
        const uint32_t window = TcpSocketBase::AvailableWindow();
        const bool isRecovering = m_tcb->m_congState == ns3::TcpSocketState::CA_RECOVERY;
        return m_rules.tail && isRecovering && window > 0 && IsTailNext() ? 0 : window;
    }

    void
    ReTxTimeout() override
    {
        ++timeouts;
        m_repeated.clear(); // as TcpTxBuffer does
        m_sackedRepeats = 0;
        TcpSocketBase::ReTxTimeout();
    }

    struct Repeat
    {
        uint32_t bytes;
        bool isSacked;
    };

    TcpRules m_rules;
    std::shared_ptr<WindowByRfc> m_window;
    SacksAside* m_sacksAside = nullptr;
    bool m_holdsBack = false;
    std::map<ns3::SequenceNumber32, ns3::SequenceNumber32> m_sacks; // first byte to end
    std::map<ns3::SequenceNumber32, Repeat> m_repeated;
    uint32_t m_sackedRepeats = 0;
    ns3::SequenceNumber32 m_rescue{0};                              // no rescue until this is acknowledged
};
