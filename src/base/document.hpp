// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/fields.hpp"
#include "base/rare.hpp"

// Plain structs as JSON documents, both ways. A struct is an object: the key of a member is its name, and the
// keys have the order of the members (base/fields.hpp).
//
//   bool, integer     true, 12
//   double            1.5; null if it is not finite
//   enum              its word
//   text              a string; only std::string can be read
//   std::optional     null while it is empty
//   Rare              left out while it is empty
//   range, map        an array, an object; only what grows can be read
//   ordered_json      itself
//   what has a Form   as the form says
namespace joust {

// A value of a document that is not as the struct has it. The message begins with the way to the value:
// "contestants[2].summary.ratio: is of type string, and should be a number".
class WrongDocument : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace documents {

using Json = nlohmann::ordered_json;

// The most levels of a text that is parsed. JSON is copied and printed by recursion, so a deeper one could
// exhaust the stack.
inline constexpr int kMostLevels = 64;

// Parses a text that others have made. Returns a discarded value for one that is no JSON, or is too deep.
template <typename AnyJson = Json>
AnyJson parsed(std::string_view text) {
  bool is_too_deep = false;
  AnyJson document = AnyJson::parse(
      text,
      [&](int level, typename AnyJson::parse_event_t, AnyJson&) {
        is_too_deep = is_too_deep || level > kMostLevels;
        return !is_too_deep;
      },
      false);
  return is_too_deep ? AnyJson(AnyJson::value_t::discarded) : document;
}

// How a type is written that no rule above fits, by a specialization with
//
//   static Other of(const T& value);    as a value of another type
//   static T from(Other value, const std::string& way);    throws WrongDocument; `way` is that to the value
//
// or, for a member that stands for several members of the object that it belongs to, with
//
//   static void add(Json& object, std::string_view name, const T& member);
//   static void take(const Json& object, const std::string& way, std::string_view name, T& member);
template <typename T>
struct Form {};
template <typename T>
concept Formed = requires(const T& value) {
  Form<T>::of(value);
};
template <typename T>
concept Several = requires(Json& object, const T& member) {
  Form<T>::add(object, std::string_view(), member);
};

// Several members of an object that are left out together.
template <Several T>
struct Form<Rare<T>> {
  static void add(Json& object, std::string_view name, const Rare<T>& member) {
    if (member) Form<T>::add(object, name, *member);
  }
  static void take(const Json& object, const std::string& way, std::string_view name, Rare<T>& member) {
    member.reset();
    if (object.contains(std::string(name))) Form<T>::take(object, way, name, member.emplace());
  }
};

template <typename T>
concept Text = std::convertible_to<const T&, std::string_view>;
template <typename T>
concept Map = requires {
  typename T::mapped_type;
};
template <typename T>
concept Optional = requires(T value) {
  value.reset();
  *value;
};
template <typename T>
inline constexpr bool kIsRare = false;
template <typename T>
inline constexpr bool kIsRare<Rare<T>> = true;

// Throw WrongDocument.
[[noreturn]] void refuse(const std::string& way, std::string_view is, std::string_view should);
[[noreturn]] void refuse_value(const std::string& way, const Json& value, std::string_view should);

// Returns the way to a member of an object, and to an element of an array.
std::string way_below(const std::string& way, std::string_view key);
std::string way_below(const std::string& way, std::size_t place);

template <typename T>
T whole_number(const Json& from, const std::string& way) {
  const bool fits = from.is_number_unsigned()
                        ? std::in_range<T>(from.get<std::uint64_t>())
                        : from.is_number_integer() && std::in_range<T>(from.get<std::int64_t>());
  if (fits) return from.get<T>();
  using Limits = std::numeric_limits<T>;
  refuse_value(way, from, fmt::format("a whole number from {} to {}", Limits::min(), Limits::max()));
}

// Returns the number of the value of an enum that has this word.
std::size_t place_of_word(const Json& from, const std::string& way, std::span<const std::string_view> words);

// Reads a value that is at `way` in the document.
template <typename T>
void read(const Json& from, const std::string& way, T& into);

// Reads the members of a struct from an object, which may have others.
template <typename T>
void read_members(const Json& from, const std::string& way, T& object) {
  if (!from.is_object()) refuse_value(way, from, "an object");
  each_field(object, [&](std::string_view name, auto& member) {
    using Member = std::remove_reference_t<decltype(member)>;
    if constexpr (Several<Member>) {
      Form<Member>::take(from, way, name, member);
    } else {
      const auto found = from.find(std::string(name));
      if (found != from.end()) return read(*found, way_below(way, name), member);
      if constexpr (!kIsRare<Member>) refuse(way_below(way, name), "missing", "there");
    }
  });
}

template <typename T>
void read(const Json& from, const std::string& way, T& into) {
  if constexpr (std::same_as<T, Json>) {
    into = from;
  } else if constexpr (Formed<T>) {
    std::remove_cvref_t<decltype(Form<T>::of(into))> other{};
    read(from, way, other);
    into = Form<T>::from(std::move(other), way);
  } else if constexpr (std::same_as<T, bool>) {
    if (!from.is_boolean()) refuse_value(way, from, "true or false");
    into = from.get<bool>();
  } else if constexpr (std::is_enum_v<T>) {
    into = static_cast<T>(place_of_word(from, way, kWordsOf<T>));
  } else if constexpr (std::integral<T>) {
    into = whole_number<T>(from, way);
  } else if constexpr (std::floating_point<T>) {
    if (!from.is_number()) refuse_value(way, from, "a number");
    into = from.get<T>();
  } else if constexpr (std::same_as<T, std::string>) {
    if (!from.is_string()) refuse_value(way, from, "a string");
    into = from.get_ref<const std::string&>();
  } else if constexpr (Optional<T>) {
    into.reset();
    if (kIsRare<T> || !from.is_null()) read(from, way, into.emplace());
  } else if constexpr (Map<T>) {
    if (!from.is_object()) refuse_value(way, from, "an object");
    into.clear();
    for (const auto& [key, value] : from.items()) read(value, way_below(way, key), into[key]);
  } else if constexpr (std::ranges::range<T>) {
    if (!from.is_array()) refuse_value(way, from, "an array");
    into.clear();
    for (std::size_t i = 0; i < from.size(); ++i) read(from[i], way_below(way, i), into.emplace_back());
  } else {
    read_members(from, way, into);
  }
}

// Calls `see(way, number)` for each number in a value that is at `way`; JSON has none.
template <typename T, typename See>
void each_number(const T& value, const std::string& way, const See& see) {
  if constexpr (std::same_as<T, Json> || std::same_as<T, bool> || std::is_enum_v<T> || Text<T>) {
    return;
  } else if constexpr (std::is_arithmetic_v<T>) {
    see(way, static_cast<double>(value));
  } else if constexpr (Optional<T>) {
    if (value) each_number(*value, way, see);
  } else if constexpr (Map<T>) {
    for (const auto& [key, member] : value) each_number(member, way_below(way, key), see);
  } else if constexpr (std::ranges::range<T>) {
    for (std::size_t i = 0; i < value.size(); ++i) each_number(value[i], way_below(way, i), see);
  } else {
    each_field(value, [&](std::string_view name, const auto& member) {
      each_number(member, way_below(way, name), see);
    });
  }
}

// Calls `see(text)` for each std::string in a value, which may change it; not for keys and JSON.
template <typename T, typename See>
void each_text(T& value, const See& see) {
  if constexpr (std::same_as<T, std::string>) {
    see(value);
  } else if constexpr (std::same_as<T, Json> || std::is_enum_v<T> || std::is_arithmetic_v<T> || Text<T>) {
    return;
  } else if constexpr (Optional<T>) {
    if (value) each_text(*value, see);
  } else if constexpr (Map<T>) {
    for (auto& [key, member] : value) each_text(member, see);
  } else if constexpr (std::ranges::range<T>) {
    for (auto& element : value) each_text(element, see);
  } else {
    each_field(value, [&](std::string_view /*name*/, auto& member) { each_text(member, see); });
  }
}

}  // namespace documents

template <typename T>
nlohmann::ordered_json to_document(const T& value);

namespace documents {

// Adds the members of a struct to an object.
template <typename T>
void add_members(Json& object, const T& value) {
  each_field(value, [&](std::string_view name, const auto& member) {
    using Member = std::remove_cvref_t<decltype(member)>;
    if constexpr (Several<Member>) {
      Form<Member>::add(object, name, member);
    } else {
      if constexpr (kIsRare<Member>)
        if (!member) return;
      object[std::string(name)] = to_document(member);
    }
  });
}

}  // namespace documents

template <typename T>
nlohmann::ordered_json to_document(const T& value) {
  using documents::Json;
  if constexpr (std::same_as<T, Json>) {
    return value;
  } else if constexpr (documents::Formed<T>) {
    return to_document(documents::Form<T>::of(value));
  } else if constexpr (std::is_enum_v<T>) {
    return word_of(value);
  } else if constexpr (std::floating_point<T>) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
  } else if constexpr (std::integral<T>) {
    return value;
  } else if constexpr (documents::Text<T>) {
    return std::string_view(value);
  } else if constexpr (documents::Optional<T>) {
    return value ? to_document(*value) : Json(nullptr);
  } else if constexpr (documents::Map<T>) {
    Json object = Json::object();
    for (const auto& [key, member] : value) object[key] = to_document(member);
    return object;
  } else if constexpr (std::ranges::range<T>) {
    Json array = Json::array();
    for (const auto& element : value) array.push_back(to_document(element));
    return array;
  } else {
    Json object = Json::object();
    documents::add_members(object, value);
    return object;
  }
}

// Skips keys that the struct does not have. A Rare without a key stays as T{} has it. Throws WrongDocument
// for any other member without a key, and for a value of another type or beyond the range of its type.
template <typename T>
T from_document(const nlohmann::ordered_json& document) {
  T value{};
  documents::read(document, "", value);
  return value;
}

}  // namespace joust
