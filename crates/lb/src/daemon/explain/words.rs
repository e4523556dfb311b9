//! What each counter means for one packet.

use heddle_dataplane::abi::Counter;

use super::Facts;
use crate::admin::Protocol;

/// A token as `ss -Mti` and the RFC's figures write it.
pub(super) fn hex(token: u32) -> String {
    format!("{token:#010x}")
}

pub(super) fn protocol(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Tcp => "TCP",
        Protocol::Udp => "UDP",
    }
}

/// What would be done with the packet.
pub(super) fn verdict(facts: &Facts<'_>) -> String {
    let backend = facts.backend().unwrap_or("a backend");
    let owner = facts.owner().unwrap_or("another balancer");
    use Counter as C;
    match facts.verdict() {
        C::PassNoVip => "It is passed to this machine's own stack.".into(),
        C::PassIcmp => "It is about no flow here: passed to this machine's own stack.".into(),
        C::SentFlow => format!("It follows its flow, to backend {backend}."),
        C::SentSyn => format!("A new connection: hashing gives it to backend {backend}."),
        C::SentCapable => format!(
            "A new MPTCP connection: hashing gives it to backend {backend}, and its token will be learnt when the keys come by."
        ),
        C::SentUnknown => format!("Nothing else says where it belongs: hashing gives it to backend {backend}."),
        C::SentJoin => format!("The token is known: it joins its connection at backend {backend}."),
        C::SentJoinUnknown => format!(
            "The token is not known: its connection has ended, or its keys did not come by here. Hashing gives it to backend {backend}, which resets it unless it has the connection."
        ),
        C::SentKeys => format!("The token would be remembered here for backend {backend}, which gets the packet."),
        C::SentForPeer => format!("Another balancer's packet: sent on to backend {backend}."),
        C::SentUdp => format!("The first of its flow: hashing gives it to backend {backend}."),
        C::SentDirect => format!("The address is backend {backend}'s own: it goes there."),
        C::SentFragment => format!("A fragment: it goes where the first one goes, to backend {backend}."),
        C::SentIcmp => format!("An error about a flow: it goes to the flow's backend {backend}."),
        C::AskedJoin => format!(
            "Balancer {owner} would be asked who has the token. It answers by sending the packet back, with the backend's name or without."
        ),
        C::AskedFlow => format!(
            "Balancer {owner}, where flows of this hash are written down, would be asked; if it does not know either, the hash decides."
        ),
        C::SteeredKeys => format!("It goes by way of balancer {owner}, which remembers the token and sends it on to backend {backend}."),
        C::SteeredFlow => format!("It goes by way of balancer {owner}, which remembers the flow and sends it on to backend {backend}."),
        C::SteeredFragment => format!("A fragment: it goes by way of balancer {owner}, which knows where the first one went."),
        C::SteeredForward => format!("It belongs to balancer {owner}, which gets it as if it had come there."),
        C::Answered => format!("A question of balancer {owner}'s: it would be answered."),
        C::TooBig => "It is too long for the way to its backend: the client is told by ICMP (RFC 1191, RFC 8201).".into(),
        C::DropMalformed => "It makes no sense: dropped.".into(),
        C::DropNoBackend => "No backend takes new flows: dropped.".into(),
        C::DropStranger => "It does not come from a balancer that is known, or has not the cluster's cookie: dropped.".into(),
        C::DropFragment => "The first fragment of its packet was not seen: dropped.".into(),
        C::DropFailed => "There is no room in front of it for another header, or no key for it: dropped.".into(),
        event => event.name().into(),
    }
}

/// What would happen besides.
pub(super) fn event(event: Counter) -> &'static str {
    use Counter as C;
    match event {
        C::FlowAdded => "Its flow would be remembered.",
        C::FlowFull => "There is no room for its flow, which would not be remembered.",
        C::FlowEvicted => "Another flow, not yet established, would make room for it.",
        C::FlowRehashed => "Its flow's backend is down: the hash chooses another.",
        C::FlowKept => "Its flow is alive: a SYN does not move it.",
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
            "More tokens than the limit allows come from flows whose SYN was not seen ([limits] learn)."
        }
        C::AskLimited => {
            "Its flow's owner is not asked: too many were, or the packet is too long ([limits] ask)."
        }
        C::JoinsLimited => "The token has had more joins than the limit allows ([limits] joins).",
        C::OptionsMalformed => "Its TCP options make no sense.",
        C::SteerTooBig => "It is too long to go by way of another balancer.",
        C::AnswerUnknown => "What is asked is not known here.",
        C::KeyReady => "It would get a key from those made ahead.",
        C::KeyMade => "It would get a key made for it.",
        C::KeyRepeated => "The SYN came before: it would get the same key again.",
        C::KeyNoRoom => "There is no room for a key in its options: it goes on as it is.",
        verdict => verdict.name(),
    }
}
