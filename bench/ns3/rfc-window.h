// Congestion control by the RFCs, where ns-3 3.37 has it otherwise; each rule can be switched on alone.

#pragma once

#include "ns3/core-module.h"
#include "ns3/internet-module.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

// README.md says what ns-3 does without each.
struct TcpRules
{
    bool flight = false;  // a loss halves what is not acknowledged (RFC 5681 section 3.2); a timeout in recovery does not again
    bool pipe = false;    // what was repeated and then SACKed is not in flight (RFC 6675 section 4, SetPipe)
    bool partial = false; // a partial acknowledgement sends what the window allows
    bool timer = false;   // new acknowledgements restart the timer (RFC 6298), and what recovery repeats (RFC 6675 section 6)
    bool tail = false;    // recovery repeats nothing above the highest SACK but one rescue (RFC 6675 section 4, NextSeg 1.b and 4)
    bool marks = false;   // the window grows after a mark, too; the share of marks counts from the first acknowledgement (RFC 8257)
    bool options = false;   // SACKs have three blocks; options have no bytes on the wire
    bool handshake = false; // the first data is the handshake's third packet

    static TcpRules
    Of(const std::string& names)
    {
        const auto has = [&names](const char* name) { return names == "all" || names.find(name) != std::string::npos; };
        return {has("flight"), has("pipe"), has("partial"), has("timer"), has("tail"), has("marks"), has("options"), has("handshake")};
    }
};

// What is sent and not acknowledged, SACKed and lost bytes included.
inline uint32_t
Outstanding(const ns3::TcpSocketState& state)
{
    return state.m_highTxMark.Get() - state.m_lastAckedSeq;
}

// The congestion window's growth and DCTCP's estimate of congestion by the RFCs.
class WindowByRfc
{
  public:
    // Slow start and congestion avoidance by bytes acknowledged, while the window is full (RFC 3465 with L = 1).
    void
    Grow(ns3::TcpSocketState& state, uint32_t bytes)
    {
        const bool isFull = Outstanding(state) + bytes + state.m_segmentSize > state.m_cWnd;
        if (!isFull || state.m_ecnState == ns3::TcpSocketState::ECN_ECE_RCVD)
        {
            return;
        }
        if (state.m_cWnd < state.m_ssThresh)
        {
            state.m_cWnd += std::min(bytes, state.m_segmentSize);
            return;
        }
        m_acknowledged += bytes;
        if (m_acknowledged >= state.m_cWnd)
        {
            m_acknowledged -= state.m_cWnd;
            state.m_cWnd += state.m_segmentSize;
        }
    }

    void
    Shrink()
    {
        m_acknowledged = 0;
    }

    // RFC 8257 section 3.3: WindowEnd is at first SND.UNA, so that the first acknowledgement ends a window.
    void
    Observe(uint32_t bytes, ns3::SequenceNumber32 acknowledged, ns3::SequenceNumber32 next, bool isMarked)
    {
        m_bytes += bytes;
        m_markedBytes += isMarked ? bytes : 0;
        if (!m_isOpen || acknowledged > m_end)
        {
            m_alpha += (double(m_markedBytes) / m_bytes - m_alpha) / 16;
            m_end = next;
            m_isOpen = true;
            m_bytes = 0;
            m_markedBytes = 0;
        }
    }

    uint32_t
    AfterMark(uint32_t window) const
    {
        return window * (1 - m_alpha / 2);
    }

  private:
    uint32_t m_acknowledged = 0; // since congestion avoidance last grew
    double m_alpha = 1;
    uint32_t m_bytes = 0;
    uint32_t m_markedBytes = 0;
    ns3::SequenceNumber32 m_end{0};
    bool m_isOpen = false;
};

// TcpNewReno or TcpDctcp. Both halve the window for a loss; DCTCP by RFC 8257 section 3.5 (ns-3's reduces it as for
// marks).
template <typename Control>
class ByRules : public Control
{
  public:
    void
    Set(TcpRules rules, const std::shared_ptr<WindowByRfc>& window)
    {
        m_rules = rules;
        m_window = window;
    }

    void
    CongestionStateSet(ns3::Ptr<ns3::TcpSocketState> state, const ns3::TcpSocketState::TcpCongState_t next) override
    {
        m_isEnteringRecovery = next == ns3::TcpSocketState::CA_RECOVERY;
        Control::CongestionStateSet(state, next);
    }

    uint32_t
    GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> state, uint32_t bytesInFlight) override
    {
        const uint32_t least = 2 * state->m_segmentSize;
        const bool isRecovering = state->m_congState == ns3::TcpSocketState::CA_RECOVERY;
        if (state->m_ecnState == ns3::TcpSocketState::ECN_ECE_RCVD && !isRecovering)
        {
            const auto reduced =
                m_rules.marks ? m_window->AfterMark(state->m_cWnd) : Control::GetSsThresh(state, bytesInFlight);
            return std::max(least, reduced);
        }
        if (!m_rules.flight)
        {
            return std::max(least, bytesInFlight / 2);
        }
        const bool isTimeout = !m_isEnteringRecovery;
        const bool isRepeated = m_hasTimedOut && m_timedOutAt == state->m_lastAckedSeq;
        const bool isKnown = isTimeout && (isRecovering || isRepeated);
        m_isEnteringRecovery = false;
        if (isTimeout)
        {
            m_hasTimedOut = true;
            m_timedOutAt = state->m_lastAckedSeq;
        }
        const uint32_t flight = std::min(Outstanding(*state), state->m_cWnd.Get());
        return isKnown ? state->m_ssThresh.Get() : std::max(least, flight / 2);
    }

    void
    IncreaseWindow(ns3::Ptr<ns3::TcpSocketState> state, uint32_t segments) override
    {
        if (m_rules.marks)
        {
            m_window->Grow(*state, segments * state->m_segmentSize);
        }
        else
        {
            Control::IncreaseWindow(state, segments);
        }
    }

  private:
    TcpRules m_rules;
    std::shared_ptr<WindowByRfc> m_window;
    bool m_isEnteringRecovery = false;
    bool m_hasTimedOut = false;
    ns3::SequenceNumber32 m_timedOutAt{0}; // what was acknowledged at the last timeout
};

// RFC 6675: in recovery the window is the threshold, and SACK's estimate of what is in flight does the rest.
class Rfc6675Recovery : public ns3::TcpRecoveryOps
{
  public:
    void
    Set(TcpRules rules, const std::shared_ptr<WindowByRfc>& window)
    {
        m_rules = rules;
        m_window = window;
    }

    std::string
    GetName() const override
    {
        return "Rfc6675Recovery";
    }

    void
    EnterRecovery(ns3::Ptr<ns3::TcpSocketState> state, uint32_t, uint32_t, uint32_t) override
    {
        SetWindow(*state, state->m_ssThresh);
        m_window->Shrink();
    }

    // Also called between a mark and the acknowledgement of what was then in flight.
    void
    DoRecovery(ns3::Ptr<ns3::TcpSocketState> state, uint32_t delivered) override
    {
        if (m_rules.marks && state->m_congState == ns3::TcpSocketState::CA_CWR)
        {
            m_window->Grow(*state, delivered);
        }
        SetWindow(*state, state->m_cWnd);
    }

    // The socket has set the window to the threshold.
    void
    ExitRecovery(ns3::Ptr<ns3::TcpSocketState> state) override
    {
        SetWindow(*state, m_bytes);
    }

    ns3::Ptr<ns3::TcpRecoveryOps>
    Fork() override
    {
        return ns3::CopyObject<Rfc6675Recovery>(this);
    }

  private:
    void
    SetWindow(ns3::TcpSocketState& state, uint32_t bytes)
    {
        m_bytes = bytes;
        state.m_cWnd = bytes;
        state.m_cWndInfl = bytes;
    }

    TcpRules m_rules;
    std::shared_ptr<WindowByRfc> m_window;
    uint32_t m_bytes = 0;
};
