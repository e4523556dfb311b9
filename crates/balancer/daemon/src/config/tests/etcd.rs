//! The list of balancers in etcd.

use super::*;

#[test]
fn etcd_takes_the_place_of_a_list() {
    let text = "balancer = { name = 'a', interfaces = ['eth0'], addresses = ['10.0.0.1'] }
        steering = { secret_file = 's' }
        membership.etcd = { endpoints = ['http://10.0.0.5:2379'] }";
    let config = load("a", text).unwrap();
    let Membership::Etcd(etcd) = &config.membership else { panic!("{config:?}") };
    assert_eq!((etcd.prefix.as_str(), etcd.lease), ("/heddle/balancers", Duration::from_secs(5)));
    let refused = load("a", &text.replace("http:", "ftp:")).unwrap_err().to_string();
    assert!(refused.starts_with("a:3: membership.etcd.endpoints.0: "), "{refused}");
}

/// The keys of `[membership.etcd]` for TLS and authentication, and the refusal of each half of
/// them.
#[test]
fn etcd_by_tls_needs_all_that_goes_together() {
    let load_with = |keys: &str| {
        let text = format!(
            "balancer = {{ name = 'a', interfaces = ['eth0'], addresses = ['10.0.0.1'] }}
            steering = {{ secret_file = 's' }}
            membership.etcd = {{ {keys} }}"
        );
        load("a", &text)
    };
    let tls = "endpoints = ['https://10.0.0.5:2379'], ca_file = 'ca'";
    let all =
        format!("{tls}, certificate_file = 'c', key_file = 'k', user = 'lb', password_file = 'p'");
    let config = load_with(&all).unwrap();
    let Membership::Etcd(etcd) = &config.membership else { panic!("{config:?}") };
    let files = etcd.credentials.certificate.as_ref().unwrap();
    assert_eq!((&*files.certificate, &*files.key), ("c".as_ref(), "k".as_ref()));
    assert_eq!(etcd.credentials.user.as_ref().unwrap().name, "lb");
    for (keys, why) in [
        ("endpoints = ['https://10.0.0.5:2379']".into(), "`https` needs `ca_file`"),
        ("endpoints = ['http://10.0.0.5:2379'], ca_file = 'ca'".into(), "this is not `https`"),
        (format!("{tls}, certificate_file = 'c'"), "`key_file` is missing"),
        (format!("{tls}, key_file = 'k'"), "`certificate_file` is missing"),
        (format!("{tls}, user = 'lb'"), "`password_file` is missing"),
        (format!("{tls}, password_file = 'p'"), "`user` is missing"),
        (
            "endpoints = ['http://10.0.0.5:2379'], user = 'lb', password_file = 'p'".into(),
            "this needs TLS",
        ),
    ] {
        let refused = load_with(&keys).unwrap_err().to_string();
        assert!(refused.starts_with("a:3: membership.etcd.") && refused.contains(why), "{refused}");
    }
}
