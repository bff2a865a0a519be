// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <boost/pfr/core.hpp>
#include <boost/pfr/tuple_size.hpp>
#include <cassert>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

// The names that the source gives to the members of a plain struct, and to the values of an enum. So a struct
// describes itself: base/document.hpp makes JSON of its members.
//
// GCC and Clang write a function's arguments of templates into __PRETTY_FUNCTION__. The name of a member is
// the last word in the text of a pointer to it, and that of a value of an enum the last word of its own text.
// An underscore at the end, which tells a name from a keyword, is no part of it: `case_` is "case".
namespace joust {
namespace fields {

// Clang before 18 takes a pointer into an object as the argument of a template only in a struct.
template <typename Pointer>
struct Address {
  Pointer to;
};

template <auto Named>
consteval std::string_view last_word() {
  std::string_view text = __PRETTY_FUNCTION__;
  text = text.substr(0, text.rfind("; std::string_view"));  // GCC says there what the alias stands for
  text = text.substr(0, text.find_last_not_of(")]}") + 1);
  text = text.substr(text.find_last_of(".:&)( ") + 1);
  return text.ends_with('_') ? text.substr(0, text.size() - 1) : text;
}

template <typename T>
struct Sample {
  const T value;
};
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-internal"
#pragma clang diagnostic ignored "-Wundefined-var-template"
#endif
template <typename T>
extern const Sample<T> sample;  // never defined: nothing but addresses in it are used

template <typename T, std::size_t... I>
consteval auto names_of_members(std::index_sequence<I...>) {
  return std::array<std::string_view, sizeof...(I)>{
      last_word<Address{&boost::pfr::get<I>(sample<T>.value)}>()...};
}
#ifdef __clang__
#pragma clang diagnostic pop
#endif

// An enum has fewer values than this.
inline constexpr std::size_t kMostWords = 16;

// Returns the word of a value; a number for a value that has no name.
template <typename E, std::size_t... I>
consteval auto words_or_numbers(std::index_sequence<I...>) {
  return std::array<std::string_view, sizeof...(I)>{last_word<static_cast<E>(I)>()...};
}

}  // namespace fields

// The names of the members of a struct, in their order.
template <typename T>
inline constexpr auto kFieldNames =
    fields::names_of_members<T>(std::make_index_sequence<boost::pfr::tuple_size_v<T>>());

// Calls `see(name, member)` for each member of a struct, in their order. The struct has no constructor, no
// base, no C array and no bit-field. GCC 12 ends with an internal error for some containers that have
// elements by default.
template <typename T, typename See>
void each_field(T& object, See see) {
  boost::pfr::for_each_field(object, [&](auto& member, std::size_t place) {
    see(kFieldNames<std::remove_const_t<T>>[place], member);
  });
}

// Calls `see(name, member, same)` for each member of a struct and the same member of another one.
template <typename T, typename See>
void each_field_of(T& object, const T& other, See see) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (see(kFieldNames<T>[I], boost::pfr::get<I>(object), boost::pfr::get<I>(other)), ...);
  }
  (std::make_index_sequence<kFieldNames<T>.size()>());
}

// The words of an enum whose values are 0, 1, 2, ..., in their order.
template <typename E>
inline constexpr auto kWordsOf = [] {
  static_assert(std::is_enum_v<E>);
  constexpr auto kAll = fields::words_or_numbers<E>(std::make_index_sequence<fields::kMostWords>());
  constexpr auto kNamed =
      std::ranges::find_if(kAll,
                           [](std::string_view word) { return word.front() >= '0' && word.front() <= '9'; }) -
      kAll.begin();
  static_assert(kNamed > 0 && kNamed < kAll.size(), "its values do not begin with 0, or are too many");
  std::array<std::string_view, kNamed> words;
  std::ranges::copy_n(kAll.begin(), kNamed, words.begin());
  return words;
}();

template <typename E>
constexpr std::string_view word_of(E value) {
  const auto number = static_cast<std::size_t>(value);
  assert(number < kWordsOf<E>.size());
  return kWordsOf<E>[number];
}

// Returns the value of an enum that has this word; nothing if none has it.
template <typename E>
constexpr std::optional<E> value_of_word(std::string_view word) {
  const auto found = std::ranges::find(kWordsOf<E>, word);
  if (found == kWordsOf<E>.end()) return std::nullopt;
  return static_cast<E>(found - kWordsOf<E>.begin());
}

}  // namespace joust
