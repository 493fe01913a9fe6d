/* Faults in a program's calls to the file system, and a clock that jumps. Preloaded (LD_PRELOAD) by faults.py:
 *
 *   CALVE_FAULT_ROOT=FOLDER     only calls on files below it count
 *   CALVE_FAULT_CALLS=RWD       which calls count: reading, writing (open for writing, write, sync, mkdir, link, rename), deleting
 *   CALVE_FAULT=ACTION:N:VALUE  what happens at the N-th of them:
 *       none      nothing
 *       kill      SIGKILL before it is done; half of a write is done
 *       signal    the signal VALUE is sent before it is done, a moment later it is done
 *       fail      it fails with the error number VALUE and is not done
 *       lost      it is done, and then fails with VALUE
 *       from      it and all that follow fail with VALUE
 *       short     a read or a write is done in part
 *       hang      it is done when it is released
 *       donehang  it is done, and returns when it is released
 *   CALVE_FAULT_LOG=FILE        gets a line "N CALL PATH" for each (`none`), or for the one at which it happened
 *   CALVE_CLOCK=SECONDS:N       the wall clock is off by SECONDS from the N-th call on (0: from the beginning)
 *   CALVE_FAULT_CONTROL=1       nothing happens until the program itself asks for it, by opening a file that is none:
 *       /calve-fault/arm/ACTION:N:VALUE/RWD   calls count from now on
 *       /calve-fault/disarm                   they do not any more, and what hangs is released
 *       /calve-fault/release                  what hangs is released; after HELD microseconds it is anyway
 *       /calve-fault/status                   nothing
 *     Each can be read: the number of calls, of those at which something happened, 1 if one hangs, and the first of them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum action { NONE, KILL, SIGNAL, FAIL, LOST, FROM, SHORT, HANG, DONE_HANG };
enum verdict { DO, REFUSE, DO_AND_LIE, DO_IN_PART, DO_AND_WAIT };
#define FILES 65536
#define HELD 300000
#define CONTROL "/calve-fault/"

static const char *root, *counted = "RWD";
static size_t root_length;
static enum action action;
static long at, value, clock_at = -1;
static long clock_seconds;
static int log_file = -1;
static atomic_long calls, hits;
static atomic_int armed = 1, held, released;
static char first_hit[PATH_MAX + 64];
static atomic_char below[FILES]; /* file descriptors below the root */

#define REAL(name) (*(typeof(name) *)real(#name))
static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

static void parse(const char *fault) {
    static const char *const names[] = {"none", "kill", "signal", "fail", "lost", "from", "short", "hang", "donehang"};
    char name[16] = "";
    sscanf(fault, "%15[a-z]:%ld:%ld", name, &at, &value);
    action = NONE;
    for (int i = 0; i < 9; i++)
        if (!strcmp(names[i], name)) action = i;
}

__attribute__((constructor)) static void begin(void) {
    root = getenv("CALVE_FAULT_ROOT");
    if (!root) return;
    root_length = strlen(root);
    if (getenv("CALVE_FAULT_CALLS")) counted = getenv("CALVE_FAULT_CALLS");
    if (getenv("CALVE_FAULT")) parse(getenv("CALVE_FAULT"));
    if (getenv("CALVE_FAULT_CONTROL")) armed = 0;
    const char *clock_jump = getenv("CALVE_CLOCK");
    if (clock_jump) sscanf(clock_jump, "%ld:%ld", &clock_seconds, &clock_at);
    const char *log = getenv("CALVE_FAULT_LOG");
    if (log) log_file = REAL(open)(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

static int inside(const char *path) { return root && path && !strncmp(path, root, root_length); }
static int known(int fd) { return fd >= 0 && fd < FILES && below[fd]; }

static void note(long n, const char *call, const char *path) {
    char line[PATH_MAX + 64], target[PATH_MAX] = "", name[64];
    if (!path || *path != '/') { /* "fd 7" */
        snprintf(name, sizeof name, "/proc/self/%s", path ? path : "");
        ssize_t length = readlink(name, target, sizeof target - 1);
        if (length > 0) target[length] = 0, path = target;
    }
    int length = snprintf(line, sizeof line, "%ld %s %s\n", n, call, path ? path : "");
    if (log_file >= 0) (void)!REAL(write)(log_file, line, (size_t)length);
    if (n == at && length > 1) line[length - 1] = 0, memcpy(first_hit, line, (size_t)length);
}

/* Waits until it is released, and not for ever: a thread that hangs may be the one that would release it. */
static void hold(void) {
    held = 1;
    for (int waited = 0; !released && waited < HELD; waited += 1000) usleep(1000);
}

/* What is to become of a call. */
static enum verdict judge(char kind, const char *call, const char *path) {
    if (!armed || !strchr(counted, kind)) return DO;
    long n = atomic_fetch_add(&calls, 1) + 1;
    if (action == NONE) note(n, call, path);
    if (action == NONE || n < at || (n > at && action != FROM)) return DO;
    if (n == at) note(n, call, path);
    atomic_fetch_add(&hits, 1);
    switch (action) {
    case KILL:
        return REFUSE;
    case SIGNAL:
        kill(getpid(), (int)value);
        usleep(20000);
        return DO;
    case LOST:
        errno = (int)value;
        return DO_AND_LIE;
    case SHORT:
        return DO_IN_PART;
    case HANG:
        hold();
        return DO;
    case DONE_HANG:
        return DO_AND_WAIT;
    default:
        errno = (int)value;
        return REFUSE;
    }
}

static enum verdict judge_fd(char kind, const char *call, int fd) {
    char name[32];
    if (!known(fd)) return DO;
    snprintf(name, sizeof name, "fd/%d", fd);
    return judge(kind, call, name);
}

static long stop(void) {
    if (action == KILL) kill(getpid(), SIGKILL), pause();
    return -1;
}

/* Does the call as the verdict says. `done` is an expression that may be used once. */
#define AS(judged, type, done)                                                                                         \
    do {                                                                                                               \
        enum verdict as = (judged);                                                                                    \
        if (as == REFUSE) return (type)stop();                                                                         \
        type result = (done);                                                                                          \
        if (as == DO_AND_WAIT) hold();                                                                                 \
        if (as == DO_AND_LIE && result >= 0) {                                                                         \
            errno = (int)value;                                                                                        \
            return (type)-1;                                                                                           \
        }                                                                                                              \
        return result;                                                                                                 \
    } while (0)

/* The length of what is read or written, of which a part is done at times. */
static size_t part(enum verdict how, size_t length) { return how == DO_IN_PART && length > 1 ? length / 2 : length; }

/* What the program asks for; a file that tells what has happened. */
static int control(const char *order) {
    static char counts[8];
    const char *fault = order + strlen("arm/");
    if (!strncmp(order, "arm/", 4) && strrchr(fault, '/')) {
        armed = 0;
        parse(fault);
        snprintf(counts, sizeof counts, "%s", strrchr(fault, '/') + 1);
        counted = counts;
        calls = hits = 0;
        held = released = 0;
        first_hit[0] = 0;
        armed = 1;
    } else if (!strcmp(order, "disarm")) {
        armed = 0;
        released = 1;
    } else if (!strcmp(order, "release")) {
        released = 1;
    }
    int fd = memfd_create("status", MFD_CLOEXEC);
    if (fd < 0) return fd;
    if (fd < FILES) below[fd] = 0; /* not that of a file that was closed behind our back */
    dprintf(fd, "%ld %ld %d %s\n", (long)calls, (long)hits, (int)held, first_hit);
    lseek(fd, 0, SEEK_SET);
    return fd;
}

static int opened(const char *call, int directory, const char *path, int flags, mode_t mode) {
    if (path && !strncmp(path, CONTROL, strlen(CONTROL))) return control(path + strlen(CONTROL));
    int ours = inside(path) || (path && *path != '/' && known(directory));
    if (!ours) return REAL(openat)(directory, path, flags, mode);
    char kind = flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC) ? 'W' : 'R';
    enum verdict how = judge(kind, call, path);
    if (how == REFUSE || how == DO_AND_LIE) return (int)stop(); /* no file is made by an open that fails */
    if (how == DO_AND_WAIT) hold();
    int fd = REAL(openat)(directory, path, flags, mode);
    if (fd >= 0 && fd < FILES) below[fd] = 1;
    return fd;
}

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...) {                                                                       \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                        \
        va_end(rest);                                                                                                  \
        return opened("open", AT_FDCWD, path, flags, mode);                                                            \
    }
OPEN(open)
OPEN(open64)
#define OPEN_AT(name)                                                                                                  \
    int name(int directory, const char *path, int flags, ...) {                                                        \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                        \
        va_end(rest);                                                                                                  \
        return opened("open", directory, path, flags, mode);                                                           \
    }
OPEN_AT(openat)
OPEN_AT(openat64)

int close(int fd) {
    if (fd >= 0 && fd < FILES) below[fd] = 0;
    return REAL(close)(fd);
}

static void tear(enum verdict how, int fd, const void *bytes, size_t length) {
    if (how == REFUSE && action == KILL) (void)!REAL(write)(fd, bytes, length / 2);
}

ssize_t write(int fd, const void *bytes, size_t length) {
    enum verdict how = judge_fd('W', "write", fd);
    tear(how, fd, bytes, length);
    AS(how, ssize_t, REAL(write)(fd, bytes, part(how, length)));
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
    AS(judge_fd('W', "writev", fd), ssize_t, REAL(writev)(fd, parts, count));
}
#define PWRITE(name)                                                                                                   \
    ssize_t name(int fd, const void *bytes, size_t length, off_t offset) {                                             \
        enum verdict how = judge_fd('W', "pwrite", fd);                                                                \
        if (how == REFUSE && action == KILL) (void)!REAL(name)(fd, bytes, length / 2, offset);                         \
        AS(how, ssize_t, REAL(name)(fd, bytes, part(how, length), offset));                                            \
    }
PWRITE(pwrite)
PWRITE(pwrite64)
int fsync(int fd) { AS(judge_fd('W', "fsync", fd), int, REAL(fsync)(fd)); }
int fdatasync(int fd) { AS(judge_fd('W', "fdatasync", fd), int, REAL(fdatasync)(fd)); }
int ftruncate(int fd, off_t length) { AS(judge_fd('W', "ftruncate", fd), int, REAL(ftruncate)(fd, length)); }
int ftruncate64(int fd, off_t length) { AS(judge_fd('W', "ftruncate", fd), int, REAL(ftruncate64)(fd, length)); }
ssize_t read(int fd, void *bytes, size_t length) {
    enum verdict how = judge_fd('R', "read", fd);
    AS(how, ssize_t, REAL(read)(fd, bytes, part(how, length)));
}
#define PREAD(name)                                                                                                    \
    ssize_t name(int fd, void *bytes, size_t length, off_t offset) {                                                   \
        enum verdict how = judge_fd('R', "pread", fd);                                                                 \
        AS(how, ssize_t, REAL(name)(fd, bytes, part(how, length), offset));                                            \
    }
PREAD(pread)
PREAD(pread64)

#define JUDGE(kind, call, path) (inside(path) ? judge(kind, call, path) : DO)
int rename(const char *from, const char *to) { AS(JUDGE('W', "rename", to), int, REAL(rename)(from, to)); }
int link(const char *from, const char *to) { AS(JUDGE('W', "link", to), int, REAL(link)(from, to)); }
int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags) {
    AS(JUDGE('W', "link", to), int, REAL(linkat)(from_dir, from, to_dir, to, flags));
}
int mkdir(const char *path, mode_t mode) { AS(JUDGE('W', "mkdir", path), int, REAL(mkdir)(path, mode)); }
int unlink(const char *path) { AS(JUDGE('D', "unlink", path), int, REAL(unlink)(path)); }
int unlinkat(int directory, const char *path, int flags) {
    enum verdict how = inside(path) || known(directory) ? judge('D', "unlinkat", path) : DO;
    AS(how, int, REAL(unlinkat)(directory, path, flags));
}
int rmdir(const char *path) { AS(JUDGE('D', "rmdir", path), int, REAL(rmdir)(path)); }

int clock_gettime(clockid_t which, struct timespec *now) {
    int result = REAL(clock_gettime)(which, now);
    if (which == CLOCK_REALTIME && clock_at >= 0 && atomic_load(&calls) >= clock_at) now->tv_sec += clock_seconds;
    return result;
}
