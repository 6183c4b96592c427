// The engine that works everywhere: a small pool of threads with preadv and pwritev.
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "backend.h"

namespace blockyard {

namespace {

constexpr size_t kMaxThreads = 16;

int32_t perform(const Request& request) {
  ssize_t result;
  do {
    switch (request.op) {
      case kRead:
        result = preadv(request.fd, request.iov(), request.count(), request.position);
        break;
      case kWrite:
        result = pwritev(request.fd, request.iov(), request.count(), request.position);
        break;
      default:
#ifdef __APPLE__
        result = fcntl(request.fd, F_FULLFSYNC);
        if (result != 0) result = fsync(request.fd);
#else
        result = request.data_only ? fdatasync(request.fd) : fsync(request.fd);
#endif
    }
  } while (result < 0 && errno == EINTR);
  return result < 0 ? -errno : static_cast<int32_t>(result);
}

class Threads final : public Backend {
 public:
  ~Threads() override {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  bool ok() const { return wake_.ok(); }

  void queue(Request& request) override { batch_.push_back(&request); }

  void enter(Sink& sink) override {
    if (batch_.empty()) return;
    size_t idle;
    size_t waiting;
    {
      std::lock_guard lock(mutex_);
      todo_.insert(todo_.end(), batch_.begin(), batch_.end());
      idle = idle_;
      waiting = todo_.size();
    }
    const size_t added = batch_.size();
    batch_.clear();
    for (size_t i = 0; i < added && i < idle; i++) work_.notify_one();
    for (size_t i = idle; i < waiting && threads_.size() < kMaxThreads; i++) {
      if (!start_thread()) break;
    }
    if (threads_.empty()) fail_all(sink);
  }

  /** All of them: the threads go on by themselves with what waits. */
  bool reap(Sink& sink, uint32_t) override {
    {
      std::lock_guard lock(mutex_);
      std::swap(done_, taken_);
    }
    for (const Done& done : taken_) sink.finished(done.slot, done.result);
    taken_.clear();
    return false;
  }

  void cancel(Request& request) override {
    std::lock_guard lock(mutex_);
    for (auto* list : {&todo_}) {
      for (auto it = list->begin(); it != list->end(); ++it) {
        if (*it != &request) continue;
        list->erase(it);
        put_done({request.slot, -ECANCELED});
        return;
      }
    }
    for (auto it = batch_.begin(); it != batch_.end(); ++it) {
      if (*it != &request) continue;
      batch_.erase(it);
      put_done({request.slot, -ECANCELED});
      return;
    }
  }

  void wait(Sink& sink) override {
    enter(sink);
    wake_.wait();
    wake_.clear();
    reap(sink, kSlots);
  }

 private:
  struct Done {
    uint32_t slot;
    int32_t result;
  };

  bool start_thread() {
    try {
      threads_.emplace_back([this] { run(); });
      return true;
    } catch (const std::system_error&) {
      return false;  // a limit on threads: those that there are will do
    }
  }

  void fail_all(Sink& sink) {
    std::deque<Request*> lost;
    {
      std::lock_guard lock(mutex_);
      lost.swap(todo_);
    }
    for (Request* request : lost) sink.finished(request->slot, -ENOMEM);
  }

  /** Under the lock. One signal tells of all that is done until it is reaped. */
  void put_done(Done done) {
    const bool first = done_.empty();
    done_.push_back(done);
    if (first) wake_.signal();
  }

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      idle_++;
      work_.wait(lock, [this] { return stopping_ || !todo_.empty(); });
      idle_--;
      if (todo_.empty()) return;
      while (!todo_.empty()) {
        Request* request = todo_.front();
        todo_.pop_front();
        lock.unlock();
        const Done done{request->slot, perform(*request)};
        lock.lock();
        put_done(done);
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<Request*> todo_;
  std::vector<Done> done_;
  size_t idle_ = 0;
  bool stopping_ = false;

  // The environment's thread alone:
  std::vector<Request*> batch_;
  std::vector<Done> taken_;
  std::vector<std::thread> threads_;
};

}  // namespace

Setup make_threads() {
  auto threads = std::make_unique<Threads>();
  if (!threads->ok()) return {nullptr, "no descriptor for the engine: " + describe(errno)};
  return {std::move(threads), ""};
}

}  // namespace blockyard
