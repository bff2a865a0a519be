// SPDX-License-Identifier: MIT
#include "report/facts_json.hpp"

#include "base/build_facts.hpp"
#include "base/fields.hpp"

namespace joust {

using Json = nlohmann::ordered_json;

Json to_json(const SocketFacts& facts) {
  Json json = Json::object();
  if (facts.nodelay) json["nodelay"] = *facts.nodelay;
  if (facts.send_buffer) json["send_buffer"] = *facts.send_buffer;
  if (facts.receive_buffer) json["receive_buffer"] = *facts.receive_buffer;
  if (facts.congestion) json["congestion"] = *facts.congestion;
  if (facts.backlog) json["backlog"] = *facts.backlog;
  return json;
}

Json to_json(const Usage& usage) {
  return {{"cpu_user_s", usage.user_s},
          {"cpu_system_s", usage.system_s},
          {"voluntary_switches", usage.voluntary_switches},
          {"involuntary_switches", usage.involuntary_switches},
          {"peak_memory_bytes", usage.peak_memory_bytes}};
}

Json to_json(const Environment& environment) {
  Json json{{"fingerprint", environment.fingerprint()}};
  for (const Environment::Item& item : environment.items) json[item.name] = item.value;
  return json;
}

Json to_json(const stats::Ratio& ratio) {
  const bool known = ratio.is_known();
  return {{"estimate", ratio.estimate},
          {"low", known ? Json(ratio.interval.low) : Json(nullptr)},
          {"high", known ? Json(ratio.interval.high) : Json(nullptr)}};
}

std::string text_of(const Json& document, int indent) {
  return document.dump(indent, ' ', false, Json::error_handler_t::replace) + '\n';
}

Json build_json() {
  return {{"type", build::kType}, {"sanitizers", build::kSanitizers}, {"version", build::kVersion}};
}

void add_engine(Json& document, const Engine& engine, const EngineOptions& options) {
  document["engine"] = engine.name;
  document["threads"] = options.threads;
  document["wait"] = word_of(options.wait);
  document["knobs"] = Json(options.knobs);
}

Json options_json(Settings options) {
  std::erase_if(options, [](const auto& option) { return option.second.empty(); });
  return Json(options);
}

}  // namespace joust
