// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <concepts>
#include <map>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "base/document.hpp"
#include "base/settings.hpp"

namespace joust::report {

using Json = nlohmann::ordered_json;

// How a type stands in a schema whose Form (base/document.hpp) is in a source file: it is written as the type
// `As`, or add(object, name, is_required) adds the members of the object that it stands for.
template <typename T>
struct Written {};

namespace schemas {

// Returns the name of the definition that a schema refers to; empty if it refers to none.
std::string definition_of(const Json& schema);
// Returns a member of a schema; null if it has none.
Json part_of(const Json& schema, std::string_view name);
// Returns the schema of a value that may be null, and of the value of such a schema.
Json or_null(Json schema);
Json without_null(const Json& schema);
// Returns a schema with this type. All other keywords, the description first, are those of the old one.
Json with_words(Json type, const Json& old);

}  // namespace schemas

// A JSON Schema, made again from the structs of the documents (base/document.hpp) and from the schema as it
// is. From the structs: types, keys and their order, nulls, words of enums, required keys, no other keys.
// From the schema, for each member: the description, limits, patterns, words of texts, whether one that is
// Rare for earlier versions only is required, and whether an object stands where it is used or is a
// definition. What has the type JSON is written by hand.
class Schema {
 public:
  class Object;

  explicit Schema(const std::string& text) : old_(Json::parse(text)) {}

  // Makes the definition of an object that has the members of these structs, and some that are written by
  // hand. Definitions that these use are made too.
  template <typename... Structs>
  void define(const std::string& name, const std::vector<std::string>& by_hand = {});
  // Makes the settings of an object of a definition, as settings_json() writes them. A setting is null at
  // times if it has no value in one of the samples.
  template <typename Plan>
  void define_settings(const std::string& name, const std::string& member, SettingRows rows,
                       const std::vector<Plan>& samples, const std::vector<std::string>& by_hand = {});

  // Returns the text of the schema, with the definitions that were made in place of the old ones.
  std::string text() const;
  // Returns what is to be written by hand yet, and definitions that stand for several types.
  const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  template <typename T>
  Json of(const Json& old);
  template <typename T>
  Json type_of(const Json& old);
  template <typename Make>
  void define_as(const std::string& name, std::type_index type, Make make);

  Json old_;
  std::map<std::string, Json> definitions_;
  std::map<std::string, std::type_index> types_;  // of the definitions
  std::vector<std::string> complaints_;
};

// An object, while its members are added.
class Schema::Object {
 public:
  // `old` is its schema as it is.
  Object(Schema& schema, const Json& old);

  template <typename Struct>
  void add_members_of() {
    const Struct sample{};
    each_field(sample, [&](std::string_view name, const auto& member) {
      add_member<std::remove_cvref_t<decltype(member)>>(name, true);
    });
  }
  template <typename T>
  void add_member(std::string_view name, bool is_required) {
    if constexpr (documents::kIsRare<T>)
      add_member<typename T::value_type>(name, false);
    else if constexpr (requires { Written<T>::add(*this, name, is_required); })
      Written<T>::add(*this, name, is_required);
    else
      add(name, schema_.of<T>(member(name)), is_required);
  }
  void add(std::string_view name, Json schema, bool is_required);
  void add_setting(const Setting& row, bool is_null_at_times);
  void add_by_hand(std::string_view name) { add(name, member(name), false); }
  Json finish();

 private:
  Json member(std::string_view name) const {
    return schemas::part_of(schemas::part_of(old_, "properties"), name);
  }

  Schema& schema_;
  const Json old_;
  Json properties_ = Json::object();
  Json required_ = Json::array();
};

template <typename T>
Json Schema::type_of(const Json& old) {
  if constexpr (requires { typename Written<T>::As; }) {
    return of<typename Written<T>::As>(old);
  } else if constexpr (documents::Formed<T>) {
    return of<std::remove_cvref_t<decltype(documents::Form<T>::of(std::declval<const T&>()))>>(old);
  } else if constexpr (std::same_as<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::is_enum_v<T>) {
    return {{"enum", kWordsOf<T>}};
  } else if constexpr (std::integral<T> || std::floating_point<T>) {
    Json number{{"type", std::integral<T> ? "integer" : "number"}};
    if (std::unsigned_integral<T> || old.is_null()) number["minimum"] = 0;
    return number;
  } else if constexpr (documents::Text<T>) {
    return {{"type", "string"}};
  } else if constexpr (documents::Optional<T>) {
    return schemas::or_null(of<typename T::value_type>(schemas::without_null(old)));
  } else if constexpr (documents::Map<T>) {
    Json map{{"type", "object"}};
    for (const char* of_keys : {"propertyNames", "properties", "required"})
      if (old.contains(of_keys)) map[of_keys] = old[of_keys];
    map["additionalProperties"] = of<typename T::mapped_type>(schemas::part_of(old, "additionalProperties"));
    return map;
  } else if constexpr (std::ranges::range<T>) {
    return {{"type", "array"}, {"items", of<std::ranges::range_value_t<T>>(schemas::part_of(old, "items"))}};
  } else {
    Object object(*this, old);
    object.add_members_of<T>();
    return object.finish();
  }
}

template <typename T>
Json Schema::of(const Json& old) {
  if (std::same_as<T, Json> || old.contains("not")) return old;
  const std::string name = schemas::definition_of(old);
  if (name.empty()) return schemas::with_words(type_of<T>(old), old);
  define_as(name, typeid(T), [&](const Json& definition) { return of<T>(definition); });
  return old;
}

template <typename Make>
void Schema::define_as(const std::string& name, std::type_index type, Make make) {
  const auto [known, is_new] = types_.emplace(name, type);
  if (!is_new && known->second != type) complaints_.push_back(name + " stands for several types");
  if (is_new) definitions_[name] = make(schemas::part_of(old_["$defs"], name));
}

template <typename... Structs>
void Schema::define(const std::string& name, const std::vector<std::string>& by_hand) {
  define_as(name, typeid(std::type_identity<void(Structs...)>), [&](const Json& old) {
    Object object(*this, old);
    (object.add_members_of<Structs>(), ...);
    for (const std::string& key : by_hand) object.add_by_hand(key);
    return schemas::with_words(object.finish(), old);
  });
}

template <typename Plan>
void Schema::define_settings(const std::string& name, const std::string& member, SettingRows rows,
                             const std::vector<Plan>& samples, const std::vector<std::string>& by_hand) {
  Json& schema = definitions_.at(name).at("properties").at(member);
  Object object(*this, schema);
  for (const Setting& row : rows)
    object.add_setting(
        row, std::ranges::any_of(samples, [&](const Plan& one) { return row.get(one) == SettingValue(); }));
  for (const std::string& key : by_hand) object.add_by_hand(key);
  schema = schemas::with_words(object.finish(), schema);
}

}  // namespace joust::report
