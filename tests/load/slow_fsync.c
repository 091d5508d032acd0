/* A disk that is slower by 2 ms at each flush, for programs that are linked dynamically: LD_PRELOAD this. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void dawdle(void) {
    const struct timespec two_milliseconds = {0, 2000000};
    nanosleep(&two_milliseconds, 0);
}

int fsync(int fd) {
    dawdle();
    return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd) {
    dawdle();
    return (int)syscall(SYS_fdatasync, fd);
}
