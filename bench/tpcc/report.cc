#include "bench/tpcc/report.h"

#include <fmt/core.h>

#include <array>

namespace pinwheel::tpcc {
namespace {

double to_ms(double us) { return us / 1000; }
double to_ms(std::int64_t us) { return static_cast<double>(us) / 1000; }

struct Percentile {
  double percent;
  std::string_view name;
};
constexpr std::array kPercentiles{Percentile{50, "p50"}, Percentile{90, "p90"}, Percentile{95, "p95"},
                                  Percentile{99, "p99"}};

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string type_json(const TypeCounts& counts) {
  std::string json = fmt::format(
      R"({{"committed": {}, "rolled_back": {}, "retries_40001": {}, "retries_40P01": {}, "failed": {}, )",
      counts.committed.count(), counts.rolled_back, counts.serialization_retries, counts.deadlock_retries,
      counts.failed);
  json += fmt::format(R"("mean_ms": {:.3f})", to_ms(counts.committed.mean_us()));
  for (const Percentile& percentile : kPercentiles)
    json += fmt::format(R"(, "{}_ms": {:.3f})", percentile.name,
                        to_ms(counts.committed.percentile_us(percentile.percent)));
  return json + fmt::format(R"(, "max_ms": {:.3f}}})", to_ms(counts.committed.max_us()));
}

std::string point_json(const SeriesPoint& point) {
  const SeriesPoint::Type& orders = point.types[index_of(TransactionType::kNewOrder)];
  std::string json =
      fmt::format(R"({{"at_s": {:.3f}, "length_s": {:.3f}, "notpm": {:.1f}, "types": {{)", point.at_s,
                  point.length_s, static_cast<double>(orders.committed) * 60 / point.length_s);
  for (std::size_t i = 0; i < kTransactionTypes; ++i)
    json += fmt::format(R"({}"{}": {{"committed": {}, "p95_ms": {:.3f}, "max_ms": {:.3f}}})",
                        i == 0 ? "" : ", ", kTransactions[i].name, point.types[i].committed,
                        to_ms(point.types[i].p95_us), to_ms(point.types[i].max_us));
  return json + "}}";
}

}  // namespace

void print_report(const RunOptions& options, const RunResult& result) {
  fmt::print("server {}, {} warehouse(s), {} clients on {} threads, {:.1f} s, {}, {}\n",
             result.server_version, result.scale.warehouses, options.clients, options.threads,
             result.measured_s, options.isolation,
             options.think ? fmt::format("think times x {:g}", options.think_scale) : "no think times");
  if (result.scale.items != kFullItems || result.scale.customers != kFullCustomers)
    fmt::print("reduced: {} items, {} customers a district; compares with nothing else\n", result.scale.items,
               result.scale.customers);
  fmt::print("notpm {:.0f}   tpm {:.0f}\n\n", result.notpm(), result.tpm());
  fmt::print("{:<13}{:>10}{:>9}{:>9}{:>9}{:>8}", "type", "committed", "rolled", "40001", "40P01", "failed");
  for (const Percentile& percentile : kPercentiles) fmt::print("{:>10}", percentile.name);
  fmt::print("{:>10}  (ms)\n", "max");
  for (const TransactionFacts& facts : kTransactions) {
    const TypeCounts& counts = result.totals.of(facts.type);
    fmt::print("{:<13}{:>10}{:>9}{:>9}{:>9}{:>8}", facts.name, counts.committed.count(), counts.rolled_back,
               counts.serialization_retries, counts.deadlock_retries, counts.failed);
    for (const Percentile& percentile : kPercentiles)
      fmt::print("{:>10.2f}", to_ms(counts.committed.percentile_us(percentile.percent)));
    fmt::print("{:>10.2f}\n", to_ms(counts.committed.max_us()));
  }
  if (result.lost_connections > 0) fmt::print("connections lost: {}\n", result.lost_connections);
  for (const std::string& error : result.errors) fmt::print("error: {}\n", error);
}

std::string to_json(const RunOptions& options, const RunResult& result) {
  std::string json = fmt::format(
      R"({{"program": "pw-tpcc", "server_version": {}, "warehouses": {}, "items": {}, "customers": {},)",
      quoted(result.server_version), result.scale.warehouses, result.scale.items, result.scale.customers);
  json += fmt::format(
      R"( "clients": {}, "threads": {}, "seconds": {}, "warmup_s": {}, "think_scale": {:g}, "isolation": {}, "seed": {},)",
      options.clients, options.threads, options.seconds, options.warmup_s,
      options.think ? options.think_scale : 0.0, quoted(options.isolation), options.seed);
  json += fmt::format(
      "\n \"measured_s\": {:.3f}, \"notpm\": {:.1f}, \"tpm\": {:.1f}, \"failed\": {}, "
      "\"lost_connections\": {},\n \"errors\": [",
      result.measured_s, result.notpm(), result.tpm(), result.totals.failed(), result.lost_connections);
  for (std::size_t i = 0; i < result.errors.size(); ++i)
    json += (i == 0 ? "" : ", ") + quoted(result.errors[i]);
  json += "],\n \"types\": {";
  for (std::size_t i = 0; i < kTransactionTypes; ++i)
    json += fmt::format("{}\n  \"{}\": {}", i == 0 ? "" : ",", kTransactions[i].name,
                        type_json(result.totals.types[i]));
  json += "},\n \"series\": [";
  for (std::size_t i = 0; i < result.series.size(); ++i)
    json += (i == 0 ? "\n  " : ",\n  ") + point_json(result.series[i]);
  return json + "]}\n";
}

}  // namespace pinwheel::tpcc
