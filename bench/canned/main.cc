// pw-canned: what pgbench could reach at most against a server of Pinwheel's process model that does no work.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "bench/canned/parent.h"

int main(int argc, char** argv) {
  using pinwheel::canned::Parent;
  pinwheel::canned::ServerOptions options;
  CLI::App app{"Answers PostgreSQL's protocol with canned replies, without any database"};
  app.add_option("-p,--port", options.port, "port")->check(CLI::Range(1, 65'535))->capture_default_str();
  app.add_option("--listen", options.address, "IPv4 address; empty for no TCP")->capture_default_str();
  app.add_option("-k,--socket-directory", options.socket_directory,
                 "directory of a Unix socket; default: none");
  app.add_option("--processes", options.processes, "processes that share all clients; 0: one for each client")
      ->check(CLI::Range(0, 256))
      ->capture_default_str();
  app.add_option("--burn-us", options.burn_us, "microseconds of CPU spent on each statement")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 1;
  }
  try {
    Parent parent{options};
    std::puts("ready");
    std::fflush(stdout);
    return parent.run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pw-canned: %s\n", error.what());
    return 1;
  }
}
