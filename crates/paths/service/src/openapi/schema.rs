//! Messages and enumerations of a `.proto` file as JSON schemas.

use heddle_daemon::openapi::reference;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::source_code_info::Location;
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
};
use serde_json::{Map, Value, json};

/// Numbers of fields in descriptor.proto, of which the paths of comments are made.
const MESSAGES: i32 = 4;
const SERVICES: i32 = 6;
const MEMBERS: i32 = 2;

/// A `.proto` file.
pub(super) struct Package<'a> {
    file: &'a FileDescriptorProto,
}

/// A method with the names of its messages.
pub(super) struct Method<'a> {
    pub(super) input: &'a str,
    pub(super) output: &'a str,
    pub(super) comment: String,
}

/// A field with its schema.
pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    pub(super) comment: String,
    pub(super) schema: Value,
}

/// The last part of a name with its package.
fn short(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

impl<'a> Package<'a> {
    pub(super) fn new(file: &'a FileDescriptorProto) -> Package<'a> {
        Package { file }
    }

    /// A method of the first service.
    pub(super) fn method(&self, name: &str) -> Option<Method<'a>> {
        let methods = &self.file.service.first()?.method;
        let index = methods.iter().position(|method| method.name() == name)?;
        let (input, output) = (methods[index].input_type(), methods[index].output_type());
        let comment = self.comment(&[SERVICES, 0, MEMBERS, index as i32]);
        let comment = comment.split(" HTTP: ").next().unwrap_or_default().to_owned();
        Some(Method { input: short(input), output: short(output), comment })
    }

    /// The fields of a message.
    pub(super) fn fields(&self, message: &str) -> Vec<Field<'a>> {
        let messages = &self.file.message_type;
        let Some(index) = messages.iter().position(|m| m.name() == message) else { return vec![] };
        let field = |(number, field): (i32, &'a FieldDescriptorProto)| Field {
            name: field.name(),
            comment: self.comment(&[MESSAGES, index as i32, MEMBERS, number]),
            schema: self.of_field(field),
        };
        (0..).zip(&messages[index].field).map(field).collect()
    }

    /// The schema of each message, by its name.
    pub(super) fn schemas(&self) -> Map<String, Value> {
        let schema = |(index, message): (i32, &DescriptorProto)| {
            let properties = self.fields(message.name()).into_iter().map(|field| {
                let mut schema = field.schema;
                schema["description"] = field.comment.into();
                (field.name.to_owned(), schema)
            });
            let schema = json!({
                "type": "object",
                "description": self.comment(&[MESSAGES, index]),
                "properties": properties.collect::<Map<_, _>>(),
                "additionalProperties": false,
            });
            (message.name().to_owned(), schema)
        };
        (0..).zip(&self.file.message_type).map(schema).collect()
    }

    fn of_field(&self, field: &FieldDescriptorProto) -> Value {
        let one = match field.r#type() {
            Type::Message => reference(short(field.type_name())),
            Type::Enum => self.of_enum(short(field.type_name())),
            Type::String => json!({ "type": "string" }),
            Type::Bool => json!({ "type": "boolean" }),
            Type::Uint32 => json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX }),
            Type::Uint64 => json!({ "type": "integer", "minimum": 0, "maximum": u64::MAX }),
            _ => json!({ "type": "number" }),
        };
        match field.label() {
            Label::Repeated => json!({ "type": "array", "items": one }),
            _ => one,
        }
    }

    /// The values but for the one that stands for none, as `format` writes them.
    fn of_enum(&self, name: &str) -> Value {
        let found = self.file.enum_type.iter().find(|e| e.name() == name);
        let values = found.map_or(&[][..], |e: &EnumDescriptorProto| &e.value);
        let prefix =
            values.first().map_or("", |first| first.name().trim_end_matches("UNSPECIFIED"));
        let text = values.iter().skip(1).map(|value| crate::format::to_json(value.name(), prefix));
        json!({ "type": "string", "enum": text.collect::<Vec<_>>() })
    }

    /// The comment before an element, as one paragraph.
    fn comment(&self, path: &[i32]) -> String {
        let locations = self.file.source_code_info.iter().flat_map(|info| &info.location);
        let found = locations.into_iter().find(|location: &&Location| location.path == path);
        let words = found.map_or("", |location| location.leading_comments()).split_whitespace();
        words.collect::<Vec<_>>().join(" ")
    }
}
