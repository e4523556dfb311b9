//! The sentence of each counter, for one packet.

use heddle_balancer_maps::abi::Counter;

use super::Facts;

/// A token as `ss -Mti` and the RFC's figures write it.
pub(super) fn hex(token: u32) -> String {
    format!("{token:#010x}")
}

/// The verdict.
pub(super) fn verdict(facts: &Facts<'_>) -> String {
    let verdict = facts.verdict();
    let backend = facts.backend().unwrap_or("that is gone");
    let owner = facts.owner().unwrap_or("that is gone");
    let sent = sent(verdict, backend).or_else(|| steered(verdict, owner, backend));
    sent.unwrap_or_else(|| ended(verdict).into())
}

/// The verdicts that send to a backend.
fn sent(verdict: Counter, backend: &str) -> Option<String> {
    let by_hash = format!("hashing gives it to backend {backend}");
    Some(match verdict {
        Counter::SentFlow => format!("It follows its flow, to backend {backend}."),
        Counter::SentSyn => format!("A new connection: {by_hash}."),
        Counter::SentCapable => format!(
            "A new MPTCP connection: {by_hash}, and its token is learnt when the keys come by."
        ),
        Counter::SentMiss => format!("Nothing says where it belongs: {by_hash}."),
        Counter::SentJoin => {
            format!("The token is known: it joins its connection at backend {backend}.")
        }
        Counter::SentJoinUnknown => format!(
            "The token is not known: its connection has ended, or its keys did not come by. So \
             {by_hash}, which resets it unless it has the connection."
        ),
        Counter::SentKeys => {
            format!("The token is remembered here for backend {backend}, which gets the packet.")
        }
        Counter::SentForPeer => format!("Another balancer sent it: it goes on to {backend}."),
        Counter::SentReturned => format!(
            "Another balancer does not know its backend {backend} yet, and has sent it back: it goes there."
        ),
        Counter::SentUdp => format!("The first of its flow: {by_hash}."),
        Counter::SentQuic => {
            format!("It goes to backend {backend}, from whatever address the client sends.")
        }
        Counter::SentDirect => format!("The address is backend {backend}'s own: it goes there."),
        Counter::SentFragment => {
            format!("A fragment: it goes where the first one goes, to backend {backend}.")
        }
        Counter::SentIcmp => format!("It is about a flow of backend {backend}: it goes there."),
        _ => return None,
    })
}

/// The verdicts that send to another balancer.
fn steered(verdict: Counter, owner: &str, backend: &str) -> Option<String> {
    let by_way = format!("It goes by way of balancer {owner}");
    Some(match verdict {
        Counter::QueriedJoin => format!(
            "Balancer {owner} would be asked who has the token. It answers by sending the packet \
             back, with the backend's name or without."
        ),
        Counter::QueriedFlow => format!(
            "Balancer {owner}, where flows of this hash are written down, would be asked; if it \
             does not know either, the hash decides."
        ),
        Counter::SteeredKeys => {
            format!("{by_way}, which remembers the token and sends it on to backend {backend}.")
        }
        Counter::SteeredFlow => {
            format!("{by_way}, which remembers the flow and sends it on to backend {backend}.")
        }
        Counter::SteeredJoin => format!(
            "Its token is known: it goes by way of balancer {owner}, which remembers the flow and \
             sends it on to backend {backend}."
        ),
        Counter::SteeredFragment => format!("{by_way}, which knows where the first fragment went."),
        Counter::SteeredForward => {
            format!("It belongs to balancer {owner}, which gets it as if it had come there.")
        }
        Counter::Returned => format!(
            "Its backend is not known here: balancer {owner} would get it back, and send it there itself."
        ),
        Counter::HeartbeatAnswered => {
            format!("A heartbeat of balancer {owner}'s: it would be answered.")
        }
        Counter::Replied => format!("A question of balancer {owner}'s: it would be answered."),
        _ => return None,
    })
}

/// The verdicts that send to neither.
fn ended(verdict: Counter) -> &'static str {
    match verdict {
        Counter::PassNotIp => "It is not IP: passed to this machine's own stack.",
        Counter::PassProtocol => {
            "It is neither TCP, UDP nor ICMP: passed to this machine's own stack."
        }
        Counter::PassTags => {
            "It has more VLAN tags than one, or another kind: passed to this machine's own stack."
        }
        Counter::PassExtensions => {
            "It has more IPv6 extension headers than four: passed to this machine's own stack."
        }
        Counter::PassMalformed => {
            "Its headers fit neither its length nor each other: passed to this machine's own stack."
        }
        Counter::PassOtherHost => {
            "Its frame was for another machine: passed to this machine's own stack, which drops it."
        }
        Counter::DropUnparsable => {
            "It cannot be read up to its ports, and its service drops such packets."
        }
        Counter::RefusedClosed => {
            "Its port has no service: the client is told so, by a TCP reset or by ICMP."
        }
        Counter::DropClosed => "Its port has no service, and its address drops such packets.",
        Counter::AnsweredEcho => "It is an echo request: answered.",
        Counter::DropEcho => "It is an echo request, and its address drops them.",
        Counter::DropLoop => "Its frame comes from this machine itself: dropped.",
        Counter::PassNoVip => "It is passed to this machine's own stack.",
        Counter::PassIcmp => "It is about no flow here: passed to this machine's own stack.",
        Counter::TooBig => {
            "It is too long for the way to its backend: the client is told so (RFC 1191, RFC 8201)."
        }
        Counter::DropMalformed => "It makes no sense: dropped.",
        Counter::DropNoBackend => "No backend takes new flows: dropped.",
        Counter::DropUnauthenticated => {
            "It is from no balancer that is known, or without the cluster's signature: dropped."
        }
        Counter::DropHops => "Its TTL or hop limit is 0: dropped ([balancer] invalid).",
        Counter::DropChecksum => {
            "The checksum of its IP header is wrong: dropped ([balancer] invalid)."
        }
        Counter::DropFlags => {
            "No host sends its TCP flags: SYN with FIN or RST, or none; dropped ([balancer] invalid)."
        }
        Counter::DropSource => {
            "No host has its source address, or it is a service's: dropped ([balancer] invalid)."
        }
        Counter::DropRoute => "It has a source route: dropped ([balancer] invalid).",
        Counter::DropDenied => "Its source may not use the service (access): dropped.",
        Counter::DropSourceRate => {
            "Its source has opened as many connections in this second as it may (access): dropped."
        }
        Counter::DropServiceRate => {
            "As many connections were opened in this second as may be (access): dropped."
        }
        Counter::DropFragment => "The first fragment of its packet was not seen: dropped.",
        Counter::FragmentWaits => {
            "The first fragment of its packet was not seen yet: it waits, and other balancers are asked."
        }
        Counter::FragmentHeard => {
            "It answers this balancer's question about a fragment that waits."
        }
        Counter::DropFailed => {
            "There is no room in front of it for another header, or no key for it: dropped."
        }
        Counter::HeartbeatHeard => "It answers a heartbeat of this balancer's.",
        other => other.name(),
    }
}

/// An event on the packet's way.
pub(super) fn event(event: Counter) -> &'static str {
    use Counter as C;
    match event {
        C::FlowAdded => "Its flow would be remembered.",
        C::FlowFull => "There is no room for its flow, which would not be remembered.",
        C::FlowEvicted => "Another flow, not yet established, would make room for it.",
        C::FlowRehashed => "Its flow's backend is down: the hash chooses another.",
        C::FlowKept => "Its flow is alive: a SYN does not move it.",
        C::CandidateAdded => {
            "Its flow is alive: the entry would be the SYN's only when its handshake goes on."
        }
        C::CandidateAccepted => {
            "Its handshake, on the addresses and ports of another flow, goes on: the entry would be its own."
        }
        C::TokenAdded => "Its token would be remembered.",
        C::TokenFull => "There is no room for its token, which would not be remembered.",
        C::TokenEvicted => "Another token, not yet confirmed, would make room for it.",
        C::TokenCollision => {
            "The token is another connection's already, at another backend: it is not learnt."
        }
        C::TokenConfirms => "Its connection goes on after the keys: the token is confirmed.",
        C::TokenRefreshed => "The token's owner hears that its connection is alive.",
        C::TokenZero => "Its token would be 0, which stands for none: it is not learnt.",
        C::LearnLimited => {
            "More tokens than the limit allows come from flows whose SYN was not seen ([limits] midstream_keys)."
        }
        C::QueryLimited => {
            "Its flow's owner is not asked: too many were, or the packet is too long ([limits] queries)."
        }
        C::JoinsLimited => {
            "The token, or this address with it, has had more joins than the limit allows ([limits] joins, source_joins)."
        }
        C::OptionsMalformed => "Its TCP options make no sense.",
        C::SteerTooBig => "It is too long to go by way of another balancer.",
        C::ReplyUnknown => "What is asked is not known here.",
        C::KeyReady => "It would get a key from those made ahead.",
        C::KeyGenerated => "It would get a key made for it.",
        C::KeyRepeated => "The SYN came before: it would get the same key again.",
        C::KeyNoRoom => "There is no room for a key in its options: it goes on as it is.",
        verdict => verdict.name(),
    }
}
