#include "base/bytes.h"

#include "base/error.h"
#include "base/sqlstate.h"

namespace pinwheel {

void ByteReader::throw_truncated(std::string_view what) {
  throw SqlError{sqlstate::kDataCorrupted, "unexpected end of data in " + std::string{what}};
}

}  // namespace pinwheel
