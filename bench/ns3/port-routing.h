// Routing with one shared route for each port of a node: what the programs of this folder have in common.

#pragma once

#include "ns3/internet-module.h"
#include "ns3/network-module.h"

#include <cstdint>
#include <vector>

// Hosts deliver what they receive; at a switch the class that derives from this one names the port.
class PortRouting : public ns3::Ipv4RoutingProtocol
{
  public:
    explicit PortRouting(bool isHost)
        : m_isHost(isHost)
    {
    }

    // The next port, for packets that start here from `source`. One route object serves all of a port's packets.
    void
    AddPort(const ns3::Ptr<ns3::NetDevice>& device, ns3::Ipv4Address source)
    {
        auto route = ns3::Create<ns3::Ipv4Route>();
        route->SetSource(source);
        route->SetGateway(ns3::Ipv4Address::GetAny()); // the wire's other end
        route->SetOutputDevice(device);
        m_routes.push_back(route);
    }

    ns3::Ptr<ns3::Ipv4Route>
    RouteOutput(ns3::Ptr<ns3::Packet>,
                const ns3::Ipv4Header&,
                ns3::Ptr<ns3::NetDevice>,
                ns3::Socket::SocketErrno& error) override
    {
        error = ns3::Socket::ERROR_NOTERROR;
        return m_routes.front();
    }

    bool
    RouteInput(ns3::Ptr<const ns3::Packet> packet,
               const ns3::Ipv4Header& header,
               ns3::Ptr<const ns3::NetDevice> device,
               UnicastForwardCallback forward,
               MulticastForwardCallback,
               LocalDeliverCallback deliver,
               ErrorCallback) override
    {
        if (m_isHost)
        {
            deliver(packet, header, m_ipv4->GetInterfaceForDevice(device));
        }
        else
        {
            forward(m_routes[NextPort(header, *packet)], packet, header);
        }
        return true;
    }

    void
    SetIpv4(ns3::Ptr<ns3::Ipv4> ipv4) override
    {
        m_ipv4 = ipv4;
    }

    void NotifyInterfaceUp(uint32_t) override {}
    void NotifyInterfaceDown(uint32_t) override {}
    void NotifyAddAddress(uint32_t, ns3::Ipv4InterfaceAddress) override {}
    void NotifyRemoveAddress(uint32_t, ns3::Ipv4InterfaceAddress) override {}
    void PrintRoutingTable(ns3::Ptr<ns3::OutputStreamWrapper>, ns3::Time::Unit) const override {}

  protected:
    // The port of a switch that a packet takes; `payload` begins with the TCP header.
    virtual uint32_t NextPort(const ns3::Ipv4Header& header, const ns3::Packet& payload) const = 0;

    void
    DoDispose() override
    {
        m_ipv4 = nullptr;
        m_routes.clear();
        Ipv4RoutingProtocol::DoDispose();
    }

  private:
    bool m_isHost;
    ns3::Ptr<ns3::Ipv4> m_ipv4;
    std::vector<ns3::Ptr<ns3::Ipv4Route>> m_routes; // one for each port
};
