package NginxTest::Http;

# HTTP/1 over a socket, byte for byte as a test asks for it, and HTTP/2 through
# curl.  Part of the runner in Test/Nginx/Socket.pm.
#
# A request is { packets => [{ value, delay_before, delay_after }, ...],
# responses => N, head => 0 or 1, method, url, headers, body }.

use strict;
use warnings;

use Exporter 'import';
use IO::Select;
use IO::Socket::INET;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(build_request curl exchange header pipeline raw_request
                 take_response);


sub raw_request {
    my ($packets, $delay) = @_;
    my @packets = map { { value => $_, delay_after => $delay } } @$packets;

    delete $packets[-1]{delay_after};

    return { packets => \@packets, responses => 1,
             head => $packets[0]{value} =~ /^\s*HEAD\s/ ? 1 : 0 };
}


# Text "METHOD URL [VERSION]\nBODY", or an array of such a text's pieces, which
# then go out one by one.
sub build_request {
    my ($source, $more_headers, $last) = @_;
    my @pieces = map { ref $_ ? { %$_ } : { value => $_ } }
                 ref $source eq 'ARRAY' ? @$source : ($source);
    my $text = join '', map { $_->{value} } @pieces;

    $text =~ s/^(?:\s*\#[^\n]*\n|\s+)+//;

    my ($line, $body) = $text =~ /^([^\n]*)(?:\n(.*))?$/s;
    my ($method, $url, $version) = split ' ', $line;
    my @headers = grep { !/^\s*\#/ && length } split /\r?\n/,
                  $more_headers // '';
    my %have = map { /^([^:]+)/ ? (lc $1 => 1) : () } @headers;

    $body //= '';
    $url //= '/';
    $version //= 'HTTP/1.1';

    if (length $body && !$have{'transfer-encoding'} && !$have{'content-length'})
    {
        $body =~ s/^\s+|\s+$//g;
        push @headers, 'Content-Length: ' . length $body;
    }

    unshift @headers, 'Connection: ' . ($last ? 'close' : 'keep-alive')
        unless $have{connection};
    unshift @headers, 'Host: localhost' unless $have{host};

    my $head = join("\r\n", "$method $url $version", @headers) . "\r\n\r\n";

    return { method => $method, url => $url, headers => \@headers,
             body => $body, responses => 1, head => $method eq 'HEAD' ? 1 : 0,
             packets => cut($head . $body, @pieces) };
}


# The finished bytes, cut where the test cut its text: every piece but the
# first keeps its own bytes.
sub cut {
    my ($bytes, @pieces) = @_;
    my @packets;

    while (@pieces > 1) {
        my $piece = pop @pieces;
        my $len = length $piece->{value};
        my $from = length($bytes) > $len ? length($bytes) - $len : 0;

        unshift @packets, { %$piece, value => substr($bytes, $from) };
        $bytes = substr($bytes, 0, $from);
    }

    return [{ %{ $pieces[0] }, value => $bytes }, @packets];
}


sub pipeline {
    my @requests = @_;

    return { responses => scalar @requests, head => $requests[0]{head},
             packets => [map { @{ $_->{packets} } } @requests] };
}


# Sends a request and reads until the server closes.  Returns the bytes and ''
# or what went wrong.
sub exchange {
    my ($request, $port, $timeout) = @_;
    my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
                                       PeerPort => $port, Timeout => 3);

    return ('', "connect: $!") unless $socket;

    local $SIG{PIPE} = 'IGNORE';
    $socket->blocking(0);
    binmode $socket;

    my ($input, $end) = ('', time + $timeout);
    my @packets = map { { %$_ } } @{ $request->{packets} };
    my $select = IO::Select->new($socket);

    while ((my $left = $end - time) > 0) {
        my $closed = @packets && send_some($socket, \@packets);
        my $wait = @packets && !$closed ? 0.005 : $left;

        next unless $select->can_read($wait);

        my $n = sysread $socket, $input, 65536, length $input;
        next if !defined $n && ($!{EAGAIN} || $!{EINTR});
        return ($input, '') unless $n;

        # with a pipelined request's last byte unsent there is more to come
        @packets = () if $closed;
    }

    return ($input, 'timed out');
}


# Returns 1 when the server takes no more.
sub send_some {
    my ($socket, $packets) = @_;
    my $packet = $packets->[0];

    sleep(delete $packet->{delay_before}) if $packet->{delay_before};

    if (length $packet->{value}) {
        my $n = syswrite $socket, $packet->{value};

        return $!{EAGAIN} || $!{EINTR} ? 0 : 1 unless defined $n;

        substr($packet->{value}, 0, $n) = '';
        return 0 if length $packet->{value};
    }

    sleep($packet->{delay_after}) if $packet->{delay_after};
    shift @$packets;

    return 0;
}


sub curl {
    my ($request, $port, $timeout) = @_;
    my @command = ('curl', '--http2-prior-knowledge', '-sS', '-i',
                   '--max-time', $timeout);

    # curl makes these itself
    push @command, map { /^(?:Host|Connection|Content-Length):/i
                         ? () : ('-H', $_) } @{ $request->{headers} };
    push @command, $request->{head} ? '-I' : ('-X', $request->{method});
    push @command, '--data-binary', '@-' if length $request->{body};
    push @command, "http://127.0.0.1:$port$request->{url}";

    pipe my $from_curl, my $out or die "pipe: $!";
    pipe my $in, my $to_curl or die "pipe: $!";

    my $pid = fork // die "fork: $!";

    if ($pid == 0) {
        open STDIN, '<&', $in;
        open STDOUT, '>&', $out;
        exec @command or exit 127;
    }

    close $_ for $in, $out;
    local $SIG{PIPE} = 'IGNORE';

    # curl reads all of its input first, so this cannot lock up
    print {$to_curl} $request->{body};
    close $to_curl;

    my $raw = do { local $/; <$from_curl> } // '';
    waitpid $pid, 0;

    return ($raw, $? ? 'curl ended with ' . ($? >> 8) : '');
}


# Takes one response off the bytes; an interim one (100 Continue) is skipped.
sub take_response {
    my ($raw, $head) = @_;
    my $text = defined $$raw ? $$raw : '';

    unless ($text =~ s{^(HTTP/[\d.]+ (\d{3})[^\r\n]*\r\n(?:[^\r\n]+\r\n)*)\r\n}{})
    {
        $$raw = '';
        return { code => '', raw_headers => '', headers => [], body => $text };
    }

    my $response = { raw_headers => $1, code => $2, headers => [] };

    for my $line (split /\r\n/, $1) {
        push @{ $response->{headers} }, [lc $1, $2]
            if $line =~ /^([^:\s]+):\s*(.*?)\s*$/;
    }

    $$raw = $text;
    return take_response($raw, $head) if $response->{code} =~ /^1/;

    $response->{body} = take_body($raw, $response, $head);

    return $response;
}


sub take_body {
    my ($raw, $response, $head) = @_;
    my $length = header($response, 'Content-Length');
    my $body = '';

    return '' if $head || $response->{code} =~ /^(?:204|304)$/;

    if ((header($response, 'Transfer-Encoding') // '') =~ /chunked/i) {
        while ($$raw =~ s/^([0-9a-fA-F]+)[^\r\n]*\r\n//) {
            my $size = hex $1;

            if ($size == 0) {
                $$raw =~ s/^(?:[^\r\n]+\r\n)*\r\n//;
                return $body;
            }

            $body .= substr $$raw, 0, $size, '';
            $$raw =~ s/^\r\n//;
        }

        return $body;
    }

    $length = length $$raw if !defined $length || $length > length $$raw;

    return substr $$raw, 0, $length, '';
}


# All values of a header, joined; undef when it is not there.
sub header {
    my ($response, $name) = @_;
    my @values = map { $_->[1] } grep { $_->[0] eq lc $name }
                 @{ $response->{headers} };

    return @values ? join(', ', @values) : undef;
}

1;
