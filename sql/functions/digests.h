#pragma once

#include <string>
#include <string_view>

namespace pinwheel::sql::functions {

/// Message digests as raw bytes: MD5 (RFC 1321) and the SHA-2 family (FIPS 180-4).
std::string md5(std::string_view message);
std::string sha224(std::string_view message);
std::string sha256(std::string_view message);
std::string sha384(std::string_view message);
std::string sha512(std::string_view message);

}  // namespace pinwheel::sql::functions
