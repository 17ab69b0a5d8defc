#include "storage/file/open_files.h"

#include <sys/stat.h>

#include "storage/file/relation_files.h"

namespace pinwheel::storage {

std::string OpenFiles::path(const SegmentId& id) const {
  return directory_ + "/" + relation_path(id.file, id.fork, id.segment);
}

void OpenFiles::close_dropped() noexcept {
  const std::uint64_t generation = drop_generation_.load(std::memory_order_acquire);
  if (generation == seen_generation_) return;
  seen_generation_ = generation;
  for (auto node = nodes_.begin(); node != nodes_.end();) {
    struct stat status;
    const bool gone = ::fstat(node->opened.file.fd(), &status) != 0 || status.st_nlink == 0;
    if (!gone) {
      ++node;
      continue;
    }
    by_id_.erase(node->id);
    node = nodes_.erase(node);
  }
}

OpenFiles::Opened* OpenFiles::get(const SegmentId& id, bool create, bool* created) {
  close_dropped();
  if (const auto found = by_id_.find(id); found != by_id_.end()) {
    if (found->second != nodes_.begin()) nodes_.splice(nodes_.begin(), nodes_, found->second);
    return &nodes_.front().opened;
  }
  const std::string file_path = path(id);
  std::optional<File> file = File::open_if_exists(file_path, OpenMode::kReadWrite);
  if (!file.has_value()) {
    if (!create) return nullptr;
    file = File::open(file_path, OpenMode::kCreate);
    if (created != nullptr) *created = true;
  }
  while (nodes_.size() >= limit_) {
    by_id_.erase(nodes_.back().id);
    nodes_.pop_back();
  }
  nodes_.push_front({id, {std::move(*file), 0}});
  by_id_.emplace(id, nodes_.begin());
  return &nodes_.front().opened;
}

void OpenFiles::close(const SegmentId& id) noexcept {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return;
  nodes_.erase(found->second);
  by_id_.erase(found);
}

void OpenFiles::close_all() noexcept {
  by_id_.clear();
  nodes_.clear();
}

}  // namespace pinwheel::storage
