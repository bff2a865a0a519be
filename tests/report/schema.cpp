// SPDX-License-Identifier: MIT
#include "report/schema.hpp"

namespace joust::report {
namespace schemas {

std::string definition_of(const Json& schema) {
  constexpr std::string_view kDefinitions = "#/$defs/";
  const std::string way = schema.is_object() ? schema.value("$ref", "") : "";
  return way.starts_with(kDefinitions) ? way.substr(kDefinitions.size()) : "";
}

Json part_of(const Json& schema, std::string_view name) {
  return schema.is_object() && schema.contains(name) ? schema[std::string(name)] : Json();
}

Json or_null(Json schema) {
  if (schema.contains("enum")) {
    schema["enum"].push_back(nullptr);
  } else if (schema.contains("type")) {
    schema["type"] = {schema["type"], "null"};
  } else {
    const Json null{{"type", "null"}};
    schema = {{"oneOf", {null, std::move(schema)}}};
  }
  return schema;
}

Json without_null(const Json& schema) {
  if (schema.contains("oneOf"))
    for (const Json& one : schema["oneOf"])
      if (one.value("type", "") != "null") return one;
  return schema;
}

Json with_words(Json type, const Json& old) {
  if (!old.is_object()) return type;
  Json made = Json::object();
  if (old.contains("description")) made["description"] = old["description"];
  // The words of a text are no enum of the program.
  if (type.contains("type") && old.contains("enum") && !type.contains("enum")) type = {{"enum", old["enum"]}};
  constexpr std::string_view kLimits[] = {"const",   "minimum",  "exclusiveMinimum", "maximum",
                                          "pattern", "minItems", "maxItems"};
  for (const auto& [key, value] : type.items())
    if (key != "description") made[key] = value;
  if (old.contains("exclusiveMinimum")) made.erase("minimum");
  for (const std::string_view key : kLimits)
    if (old.contains(key)) made[std::string(key)] = old[std::string(key)];
  return made;
}

}  // namespace schemas

namespace {

std::string in_one_line(const Json& value) {
  if (value.is_primitive()) return value.dump();
  std::string text;
  for (const auto& [key, member] : value.items())
    text +=
        (text.empty() ? "" : ", ") + (value.is_object() ? Json(key).dump() + ": " : "") + in_one_line(member);
  return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

bool is_flat(const Json& value) {
  return std::ranges::all_of(value, [](const Json& member) { return member.is_primitive(); });
}

// Prints a value where the text ends: in one line, if it fits or has no other values below its own.
void print(std::string& text, const Json& value, std::size_t indent) {
  constexpr std::size_t kColumns = 110;
  const std::string line = in_one_line(value);
  if (value.is_primitive() || is_flat(value) || text.size() - text.rfind('\n') + line.size() < kColumns) {
    text += line;
    return;
  }
  const std::string end = '\n' + std::string(indent, ' ');
  std::string before = value.is_object() ? "{" : "[";
  for (const auto& [key, member] : value.items()) {
    text += before + end + "  " + (value.is_object() ? Json(key).dump() + ": " : "");
    print(text, member, indent + 2);
    before = ",";
  }
  text += end + (value.is_object() ? '}' : ']');
}

}  // namespace

Schema::Object::Object(Schema& schema, const Json& old) : schema_(schema), old_(old) {}

void Schema::Object::add(std::string_view name, Json schema, bool is_required) {
  const bool is_described = schema.is_object() && (schema.contains("description") || schema.contains("$ref"));
  if (!is_described) schema_.complaints_.push_back(std::string(name) + " needs a description in the schema");
  properties_[std::string(name)] = std::move(schema);
  const Json required = schemas::part_of(old_, "required");
  if (is_required || std::ranges::count(required, Json(name)) > 0) required_.push_back(name);
}

Json Schema::Object::finish() {
  Json object{{"type", "object"}, {"properties", std::move(properties_)}};
  if (!required_.empty()) object["required"] = std::move(required_);
  object["additionalProperties"] = false;
  return object;
}

void Schema::Object::add_setting(const Setting& row, bool is_null_at_times) {
  using Kind = Setting::Kind;
  Json schema{{"type", "string"}};
  if (row.kind == Kind::toggle) schema["type"] = "boolean";
  if (row.kind == Kind::count || row.kind == Kind::bytes)
    schema = {{"type", "integer"}, {"minimum", row.least}};
  if (row.kind == Kind::rate || row.kind == Kind::time) schema = {{"type", "number"}, {"minimum", 0}};
  if (row.kind == Kind::times)
    schema = {
        {"type", "array"}, {"items", {{"type", "number"}, {"minimum", 0}}}, {"minItems", 2}, {"maxItems", 2}};
  if (row.kind == Kind::word) schema = {{"enum", row.words}};
  if (row.may_be_null && is_null_at_times) schema = schemas::or_null(std::move(schema));
  add(row.json, schemas::with_words(std::move(schema), member(row.json)), row.may_be_null);
}

std::string Schema::text() const {
  Json schema = old_;
  for (const auto& [name, made] : definitions_) schema["$defs"][name] = made;
  std::string text;
  print(text, schema, 0);
  return text + '\n';
}

}  // namespace joust::report
