#include "sql/functions/digests.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"

namespace pinwheel::sql::functions {

namespace {

/// floor(2^32 |sin(i + 1)|)
constexpr std::uint32_t kSines[64] = {
    0xD76AA478u, 0xE8C7B756u, 0x242070DBu, 0xC1BDCEEEu, 0xF57C0FAFu, 0x4787C62Au, 0xA8304613u, 0xFD469501u,
    0x698098D8u, 0x8B44F7AFu, 0xFFFF5BB1u, 0x895CD7BEu, 0x6B901122u, 0xFD987193u, 0xA679438Eu, 0x49B40821u,
    0xF61E2562u, 0xC040B340u, 0x265E5A51u, 0xE9B6C7AAu, 0xD62F105Du, 0x02441453u, 0xD8A1E681u, 0xE7D3FBC8u,
    0x21E1CDE6u, 0xC33707D6u, 0xF4D50D87u, 0x455A14EDu, 0xA9E3E905u, 0xFCEFA3F8u, 0x676F02D9u, 0x8D2A4C8Au,
    0xFFFA3942u, 0x8771F681u, 0x6D9D6122u, 0xFDE5380Cu, 0xA4BEEA44u, 0x4BDECFA9u, 0xF6BB4B60u, 0xBEBFBC70u,
    0x289B7EC6u, 0xEAA127FAu, 0xD4EF3085u, 0x04881D05u, 0xD9D4D039u, 0xE6DB99E5u, 0x1FA27CF8u, 0xC4AC5665u,
    0xF4292244u, 0x432AFF97u, 0xAB9423A7u, 0xFC93A039u, 0x655B59C3u, 0x8F0CCC92u, 0xFFEFF47Du, 0x85845DD1u,
    0x6FA87E4Fu, 0xFE2CE6E0u, 0xA3014314u, 0x4E0811A1u, 0xF7537E82u, 0xBD3AF235u, 0x2AD7D2BBu, 0xEB86D391u,
};
/// Fractions of the cube roots of the first primes.
constexpr std::uint32_t kRoots32[64] = {
    0x428A2F98u, 0x71374491u, 0xB5C0FBCFu, 0xE9B5DBA5u, 0x3956C25Bu, 0x59F111F1u, 0x923F82A4u, 0xAB1C5ED5u,
    0xD807AA98u, 0x12835B01u, 0x243185BEu, 0x550C7DC3u, 0x72BE5D74u, 0x80DEB1FEu, 0x9BDC06A7u, 0xC19BF174u,
    0xE49B69C1u, 0xEFBE4786u, 0x0FC19DC6u, 0x240CA1CCu, 0x2DE92C6Fu, 0x4A7484AAu, 0x5CB0A9DCu, 0x76F988DAu,
    0x983E5152u, 0xA831C66Du, 0xB00327C8u, 0xBF597FC7u, 0xC6E00BF3u, 0xD5A79147u, 0x06CA6351u, 0x14292967u,
    0x27B70A85u, 0x2E1B2138u, 0x4D2C6DFCu, 0x53380D13u, 0x650A7354u, 0x766A0ABBu, 0x81C2C92Eu, 0x92722C85u,
    0xA2BFE8A1u, 0xA81A664Bu, 0xC24B8B70u, 0xC76C51A3u, 0xD192E819u, 0xD6990624u, 0xF40E3585u, 0x106AA070u,
    0x19A4C116u, 0x1E376C08u, 0x2748774Cu, 0x34B0BCB5u, 0x391C0CB3u, 0x4ED8AA4Au, 0x5B9CCA4Fu, 0x682E6FF3u,
    0x748F82EEu, 0x78A5636Fu, 0x84C87814u, 0x8CC70208u, 0x90BEFFFAu, 0xA4506CEBu, 0xBEF9A3F7u, 0xC67178F2u,
};
constexpr std::uint64_t kRoots64[80] = {
    0x428A2F98D728AE22u, 0x7137449123EF65CDu, 0xB5C0FBCFEC4D3B2Fu, 0xE9B5DBA58189DBBCu, 0x3956C25BF348B538u,
    0x59F111F1B605D019u, 0x923F82A4AF194F9Bu, 0xAB1C5ED5DA6D8118u, 0xD807AA98A3030242u, 0x12835B0145706FBEu,
    0x243185BE4EE4B28Cu, 0x550C7DC3D5FFB4E2u, 0x72BE5D74F27B896Fu, 0x80DEB1FE3B1696B1u, 0x9BDC06A725C71235u,
    0xC19BF174CF692694u, 0xE49B69C19EF14AD2u, 0xEFBE4786384F25E3u, 0x0FC19DC68B8CD5B5u, 0x240CA1CC77AC9C65u,
    0x2DE92C6F592B0275u, 0x4A7484AA6EA6E483u, 0x5CB0A9DCBD41FBD4u, 0x76F988DA831153B5u, 0x983E5152EE66DFABu,
    0xA831C66D2DB43210u, 0xB00327C898FB213Fu, 0xBF597FC7BEEF0EE4u, 0xC6E00BF33DA88FC2u, 0xD5A79147930AA725u,
    0x06CA6351E003826Fu, 0x142929670A0E6E70u, 0x27B70A8546D22FFCu, 0x2E1B21385C26C926u, 0x4D2C6DFC5AC42AEDu,
    0x53380D139D95B3DFu, 0x650A73548BAF63DEu, 0x766A0ABB3C77B2A8u, 0x81C2C92E47EDAEE6u, 0x92722C851482353Bu,
    0xA2BFE8A14CF10364u, 0xA81A664BBC423001u, 0xC24B8B70D0F89791u, 0xC76C51A30654BE30u, 0xD192E819D6EF5218u,
    0xD69906245565A910u, 0xF40E35855771202Au, 0x106AA07032BBD1B8u, 0x19A4C116B8D2D0C8u, 0x1E376C085141AB53u,
    0x2748774CDF8EEB99u, 0x34B0BCB5E19B48A8u, 0x391C0CB3C5C95A63u, 0x4ED8AA4AE3418ACBu, 0x5B9CCA4F7763E373u,
    0x682E6FF3D6B2B8A3u, 0x748F82EE5DEFB2FCu, 0x78A5636F43172F60u, 0x84C87814A1F0AB72u, 0x8CC702081A6439ECu,
    0x90BEFFFA23631E28u, 0xA4506CEBDE82BDE9u, 0xBEF9A3F7B2C67915u, 0xC67178F2E372532Bu, 0xCA273ECEEA26619Cu,
    0xD186B8C721C0C207u, 0xEADA7DD6CDE0EB1Eu, 0xF57D4F7FEE6ED178u, 0x06F067AA72176FBAu, 0x0A637DC5A2C898A6u,
    0x113F9804BEF90DAEu, 0x1B710B35131C471Bu, 0x28DB77F523047D84u, 0x32CAAB7B40C72493u, 0x3C9EBE0A15C9BEBCu,
    0x431D67C49C100D4Cu, 0x4CC5D4BECB3E42B6u, 0x597F299CFC657E2Au, 0x5FCB6FAB3AD6FAECu, 0x6C44198C4A475817u,
};

/// The message with its padding: one bit, zeros, and the length in bits in the last 8 or 16 bytes.
std::string padded(std::string_view message, std::size_t block, bool big_endian) {
  const std::size_t length_bytes = block == 128 ? 16 : 8;
  std::string text{message};
  text += static_cast<char>(0x80);
  while (text.size() % block != block - length_bytes) text += '\0';
  text.append(length_bytes - 8, '\0');
  char length[8];
  const std::uint64_t bits = std::uint64_t{message.size()} * 8;
  if (big_endian) {
    store_network<std::uint64_t>(length, bits);
  } else {
    store<std::uint64_t>(length, bits);
  }
  return text.append(length, 8);
}

template <class Word, int Rounds>
struct Sha2 {
  std::array<Word, 8> h;
  const Word* roots;
  // Rotation counts of the four mixing functions; the third of the small ones is a shift.
  int big0[3], big1[3], small0[3], small1[3];

  static Word mix(Word x, const int (&r)[3]) {
    return std::rotr(x, r[0]) ^ std::rotr(x, r[1]) ^ std::rotr(x, r[2]);
  }
  static Word mix_shift(Word x, const int (&r)[3]) {
    return std::rotr(x, r[0]) ^ std::rotr(x, r[1]) ^ x >> r[2];
  }

  void block(const char* bytes) {
    Word w[Rounds];
    for (int i = 0; i < 16; ++i) w[i] = load_network<Word>(bytes + i * static_cast<int>(sizeof(Word)));
    for (int i = 16; i < Rounds; ++i) {
      w[i] = w[i - 16] + mix_shift(w[i - 15], small0) + w[i - 7] + mix_shift(w[i - 2], small1);
    }
    auto [a, b, c, d, e, f, g, k] = h;
    for (int i = 0; i < Rounds; ++i) {
      const Word t1 = k + mix(e, big1) + ((e & f) ^ (~e & g)) + roots[i] + w[i];
      const Word t2 = mix(a, big0) + ((a & b) ^ (a & c) ^ (b & c));
      k = g;
      g = f;
      f = e;
      e = d + t1;
      d = c;
      c = b;
      b = a;
      a = t1 + t2;
    }
    const Word next[8] = {a, b, c, d, e, f, g, k};
    for (std::size_t i = 0; i < 8; ++i) h[i] += next[i];
  }

  std::string digest(std::string_view message, std::size_t size) {
    const std::size_t block_bytes = sizeof(Word) * 16;
    const std::string text = padded(message, block_bytes, true);
    for (std::size_t at = 0; at < text.size(); at += block_bytes) block(text.data() + at);
    std::string out(sizeof(Word) * 8, '\0');
    for (std::size_t i = 0; i < 8; ++i) store_network<Word>(out.data() + i * sizeof(Word), h[i]);
    out.resize(size);
    return out;
  }
};

std::string sha2_32(const std::array<std::uint32_t, 8>& start, std::string_view message, std::size_t size) {
  Sha2<std::uint32_t, 64> sha{start, kRoots32, {2, 13, 22}, {6, 11, 25}, {7, 18, 3}, {17, 19, 10}};
  return sha.digest(message, size);
}
std::string sha2_64(const std::array<std::uint64_t, 8>& start, std::string_view message, std::size_t size) {
  Sha2<std::uint64_t, 80> sha{start, kRoots64, {28, 34, 39}, {14, 18, 41}, {1, 8, 7}, {19, 61, 6}};
  return sha.digest(message, size);
}

}  // namespace

std::string md5(std::string_view message) {
  static constexpr int kRotations[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  std::uint32_t state[4] = {0x67452301u, 0xEFCDAB89u, 0x98BADCFEu, 0x10325476u};
  const std::string text = padded(message, 64, false);
  for (std::size_t at = 0; at < text.size(); at += 64) {
    auto [a, b, c, d] = state;
    for (unsigned i = 0; i < 64; ++i) {
      std::uint32_t f;
      unsigned g;
      switch (i / 16) {
        case 0:
          f = (b & c) | (~b & d);
          g = i;
          break;
        case 1:
          f = (d & b) | (~d & c);
          g = (5 * i + 1) % 16;
          break;
        case 2:
          f = b ^ c ^ d;
          g = (3 * i + 5) % 16;
          break;
        default:
          f = c ^ (b | ~d);
          g = 7 * i % 16;
      }
      f += a + kSines[i] + load<std::uint32_t>(text.data() + at + g * 4);
      a = d;
      d = c;
      c = b;
      b += std::rotl(f, kRotations[i / 16][i % 4]);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
  }
  return {reinterpret_cast<const char*>(state), 16};
}

std::string sha224(std::string_view message) {
  return sha2_32(
      {
          0xC1059ED8u,
          0x367CD507u,
          0x3070DD17u,
          0xF70E5939u,
          0xFFC00B31u,
          0x68581511u,
          0x64F98FA7u,
          0xBEFA4FA4u,
      },
      message, 28);
}
std::string sha256(std::string_view message) {
  return sha2_32(
      {
          0x6A09E667u,
          0xBB67AE85u,
          0x3C6EF372u,
          0xA54FF53Au,
          0x510E527Fu,
          0x9B05688Cu,
          0x1F83D9ABu,
          0x5BE0CD19u,
      },
      message, 32);
}
std::string sha384(std::string_view message) {
  return sha2_64(
      {
          0xCBBB9D5DC1059ED8u,
          0x629A292A367CD507u,
          0x9159015A3070DD17u,
          0x152FECD8F70E5939u,
          0x67332667FFC00B31u,
          0x8EB44A8768581511u,
          0xDB0C2E0D64F98FA7u,
          0x47B5481DBEFA4FA4u,
      },
      message, 48);
}
std::string sha512(std::string_view message) {
  return sha2_64(
      {
          0x6A09E667F3BCC908u,
          0xBB67AE8584CAA73Bu,
          0x3C6EF372FE94F82Bu,
          0xA54FF53A5F1D36F1u,
          0x510E527FADE682D1u,
          0x9B05688C2B3E6C1Fu,
          0x1F83D9ABFB41BD6Bu,
          0x5BE0CD19137E2179u,
      },
      message, 64);
}

}  // namespace pinwheel::sql::functions
