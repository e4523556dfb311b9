//! The OpenAPI 3.1 document of the HTTP API, made from the types of requests and replies, whose doc
//! comments become descriptions.

use std::sync::LazyLock;

use heddle_daemon::openapi::{self, Body, Parameter, Place};
use schemars::JsonSchema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use super::problem::Members as ProblemMembers;
use super::queries::{ConnectionsQuery, ScopeQuery};
use super::{
    BackendChange, Backends, Connections, Explained, HealthStatus, Members, NewBackends, Packet,
    Reloaded, Selection, Services, SharedChanges, Status,
};
use crate::config::BackendEntry;
use crate::metrics::Snapshot;

/// Makes the schema of a type.
type Schema = fn(&mut SchemaGenerator) -> Value;

/// An operation.
struct Operation {
    method: &'static str,
    path: &'static str,
    id: &'static str,
    description: &'static str,
    /// The parameters in the query, as the fields of a type.
    query: Option<Schema>,
    request: Option<Schema>,
    /// The status of a success.
    status: u16,
    response: Schema,
}

impl Operation {
    /// Without parameters or a body.
    const fn new(
        method: &'static str,
        path: &'static str,
        (id, description): (&'static str, &'static str),
        response: Schema,
    ) -> Operation {
        let (query, request) = (None, None);
        Operation { method, path, id, description, query, request, status: 200, response }
    }

    /// With a body.
    const fn takes(mut self, request: Schema) -> Operation {
        self.request = Some(request);
        self
    }

    /// With parameters in the query.
    const fn asks(mut self, query: Schema) -> Operation {
        self.query = Some(query);
        self
    }

    /// It creates something.
    const fn creates(mut self) -> Operation {
        self.status = 201;
        self
    }
}

const BACKENDS: &str = "/v1/backends";
const BACKEND: &str = "/v1/backends/{backend}";
const OF_SERVICE: &str = "/v1/services/{service}/backends";
const IN_SERVICE: &str = "/v1/services/{service}/backends/{backend}";

/// The operations.
const OPERATIONS: [Operation; 20] = [
    Operation::new(
        "get",
        "/v1/status",
        ("GetStatus", "The daemon's state: tables, warnings, and what commands have changed."),
        schema::<Status>,
    ),
    Operation::new(
        "get",
        "/v1/health",
        ("GetHealth", "The balancer's own health, by which other balancers and BIRD judge."),
        schema::<HealthStatus>,
    ),
    Operation::new("get", "/v1/services", ("ListServices", "All services."), schema::<Services>),
    Operation::new(
        "get",
        BACKENDS,
        ("ListBackends", "The backends of all services, with health, flows and packets."),
        schema::<Backends>,
    ),
    Operation::new(
        "post",
        BACKENDS,
        (
            "AddBackends",
            "Adds backends to services, all of them or none. Services of one group have backends of the same names: add a backend to all of them at once.",
        ),
        schema::<Backends>,
    )
    .takes(schema::<NewBackends>)
    .asks(schema::<ScopeQuery>)
    .creates(),
    Operation::new(
        "get",
        BACKEND,
        ("GetBackend", "A backend, in all services that have it."),
        schema::<Backends>,
    ),
    Operation::new(
        "patch",
        BACKEND,
        ("ChangeBackend", "Weighs, drains or restores a backend, in all services that have it."),
        schema::<Backends>,
    )
    .takes(schema::<BackendChange>)
    .asks(schema::<ScopeQuery>),
    Operation::new(
        "delete",
        BACKEND,
        (
            "RemoveBackend",
            "Removes a backend from all services that have it. Its connections continue until they end, and nothing begins there. The response shows it as it was before.",
        ),
        schema::<Backends>,
    )
    .asks(schema::<ScopeQuery>),
    Operation::new(
        "get",
        OF_SERVICE,
        ("ListServiceBackends", "The backends of a service."),
        schema::<Backends>,
    ),
    Operation::new(
        "post",
        OF_SERVICE,
        ("AddServiceBackend", "Adds a backend to a service."),
        schema::<Backends>,
    )
    .takes(schema::<BackendEntry>)
    .asks(schema::<ScopeQuery>)
    .creates(),
    Operation::new(
        "get",
        IN_SERVICE,
        ("GetServiceBackend", "A backend of a service."),
        schema::<Backends>,
    ),
    Operation::new(
        "patch",
        IN_SERVICE,
        ("ChangeServiceBackend", "Weighs, drains or restores a backend of a service."),
        schema::<Backends>,
    )
    .takes(schema::<BackendChange>)
    .asks(schema::<ScopeQuery>),
    Operation::new(
        "delete",
        IN_SERVICE,
        (
            "RemoveServiceBackend",
            "Removes a backend from a service. Its connections continue until they end, and nothing begins there. The response shows it as it was before.",
        ),
        schema::<Backends>,
    )
    .asks(schema::<ScopeQuery>),
    Operation::new(
        "get",
        "/v1/changes",
        ("ListChanges", "The changes of backends that all balancers share by way of etcd."),
        schema::<SharedChanges>,
    ),
    Operation::new(
        "delete",
        "/v1/changes",
        (
            "ResetChanges",
            "Takes changes back that all balancers share: the file counts again. Without parameters all of them. The response has those that were taken back.",
        ),
        schema::<SharedChanges>,
    )
    .asks(schema::<Selection>),
    Operation::new(
        "get",
        "/v1/connections",
        ("ListConnections", "Entries of the flow table: connections and their backends."),
        schema::<Connections>,
    )
    .asks(schema::<ConnectionsQuery>),
    Operation::new(
        "post",
        "/v1/explain",
        ("Explain", "The running program's decision for a packet. Nothing is sent or changed."),
        schema::<Explained>,
    )
    .takes(schema::<Packet>),
    Operation::new(
        "get",
        "/v1/counters",
        ("GetCounters", "All counters: packets by verdict, events, tables."),
        schema::<Snapshot>,
    ),
    Operation::new(
        "get",
        "/v1/members",
        ("ListMembers", "The balancers that share the work."),
        schema::<Members>,
    ),
    Operation::new(
        "post",
        "/v1/reload",
        (
            "Reload",
            "Reads the configuration file again. A wrong one changes nothing. Backends and weights become the file's; draining by command stays.",
        ),
        schema::<Reloaded>,
    ),
];

/// The document as text, in the form in which the repository has it.
pub(super) static DOCUMENT: LazyLock<String> = LazyLock::new(|| openapi::text(&document()));

fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().to_value()
}

fn document() -> Value {
    let mut generators = Generators::new();
    let operations: Vec<_> =
        OPERATIONS.iter().map(|operation| described(operation, &mut generators)).collect();
    let description = "The load balancer's HTTP API, on its admin socket. Changes last until the next reload or restart reads the file's configuration; with scope=cluster they are made on all balancers that share an etcd cluster, until they are taken back.";
    openapi::document("heddled", description, operations, &generators.finish())
}

/// The generators of schemas: a default makes a field optional in requests, and not in responses.
struct Generators {
    requests: SchemaGenerator,
    responses: SchemaGenerator,
}

impl Generators {
    fn new() -> Generators {
        let settings = || {
            SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = "/components/schemas".into();
                settings.meta_schema = None;
            })
        };
        Generators {
            requests: settings().for_deserialize().into_generator(),
            responses: settings().for_serialize().into_generator(),
        }
    }

    /// All schemas that were referred to, by name.
    fn finish(mut self) -> Map<String, Value> {
        let mut schemas = self.requests.take_definitions(true);
        schemas.extend(self.responses.take_definitions(true));
        schemas.sort_keys();
        schemas
    }
}

/// An operation with its parameters, body and responses.
fn described(operation: &Operation, generators: &mut Generators) -> openapi::Operation {
    let request = operation.request.map(|request| request(&mut generators.requests));
    openapi::Operation {
        method: operation.method,
        path: operation.path,
        id: operation.id,
        description: operation.description.to_owned(),
        parameters: parameters(operation, &mut generators.requests),
        body: request.map(|schema| Body { schema, is_required: true }),
        status: operation.status,
        response: (operation.response)(&mut generators.responses),
        problem: schema::<ProblemMembers>(&mut generators.responses),
    }
}

fn parameters(operation: &Operation, generator: &mut SchemaGenerator) -> Vec<Parameter> {
    let in_path = openapi::names_in(operation.path).map(|name| Parameter {
        name: name.to_owned(),
        place: Place::Path,
        description: format!("The {name}'s name, percent-encoded where it has to be").into(),
        schema: json!({ "type": "string" }),
    });
    let fields = operation.query.map(|query| fields(query, generator)).unwrap_or_default();
    let in_query = fields.into_iter().map(|(name, mut schema)| {
        let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        let description = description.unwrap_or_default();
        Parameter { name, place: Place::Query, description, schema }
    });
    in_path.chain(in_query).collect()
}

/// The fields of a type that has no component of its own, with their schemas.
fn fields(query: Schema, generator: &mut SchemaGenerator) -> Map<String, Value> {
    let reference = query(generator);
    let name = reference["$ref"].as_str().and_then(|path| path.rsplit('/').next());
    let removed = name.and_then(|name| generator.definitions_mut().remove(name));
    let properties = removed.as_ref().and_then(|schema| schema["properties"].as_object());
    properties.cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests;
